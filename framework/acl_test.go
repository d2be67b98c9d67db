package framework_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// The identities are those of Java's DigestAuthenticationProvider.generateDigest; internal/interop asks Java for
// more of them.
func TestACLEntries(t *testing.T) {
	for name, tt := range map[string]struct {
		got  framework.ACL
		want string
	}{
		"digest":                    {framework.DigestACL("super", "admin"), "digest:super:xQJmxLMiHGwaqBvst5y6rkB6HQs=:cdrwa"},
		"digest for readers":        {framework.DigestACL("test", "test", framework.PermRead), "digest:test:V28q/NynI4JI3Rk54h0r8O5kMug=:r"},
		"digest, two permissions":   {framework.DigestACL("user", "password", framework.PermRead, framework.PermWrite), "digest:user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=:rw"},
		"world":                     {framework.WorldACL(), "world:anyone:cdrwa"},
		"world for readers":         {framework.WorldACL(framework.PermRead), "world:anyone:r"},
		"auth":                      {framework.AuthACL(), "auth::cdrwa"},
		"auth, overlapping":         {framework.AuthACL(framework.PermAll, framework.PermRead), "auth::cdrwa"},
		"as OpenACLUnsafe has it":   {framework.OpenACLUnsafe()[0], "world:anyone:cdrwa"},
		"as CreatorAllACL has it":   {framework.CreatorAllACL()[0], "auth::cdrwa"},
		"nothing, when that is put": {framework.WorldACL(0), "world:anyone:-"},
	} {
		if tt.got.String() != tt.want {
			t.Errorf("%s: %s, want %s", name, tt.got, tt.want)
		}
	}
	// The server forgets where a user with a colon ends; see Java's split.
	if a, b := framework.DigestACL("a:b", "c"), framework.DigestACL("a", "b:c"); a != b || !strings.HasPrefix(a.ID, "a:") {
		t.Errorf("%s and %s", a, b)
	}
}

// badACLs are lists that no constructor accepts, and what the error says.
var badACLs = map[string][]framework.ACL{
	"it is empty":                           {},
	"entry 2 of 2 has no scheme":            {framework.WorldACL(), {Perms: framework.PermAll, ID: "anyone"}},
	"entry 1 of 1 permits nothing":          {{Scheme: "world", ID: "anyone"}},
	"entry 1 of 1 is of world:every":        {{Perms: framework.PermAll, Scheme: "world", ID: "every"}},
	"entry 1 of 1 has the permissions 0x20": {{Perms: 32, Scheme: "ip", ID: "10.0.0.1"}},
	"permissions 0xffffffff":                {{Perms: -1, Scheme: "ip", ID: "10.0.0.1"}},
}

func TestWithDefaultACLRefused(t *testing.T) {
	for want, acl := range badACLs {
		client, err := framework.NewClient("host", retry.None(), framework.WithDefaultACL(acl...))
		if client != nil || !errors.Is(err, framework.ErrInvalidACL) || !errors.Is(err, framework.ErrInvalidOption) ||
			!strings.Contains(err.Error(), "WithDefaultACL: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", acl, err, want)
		}
	}
	provider, list := framework.WithACLProvider(&aclAsked{}), framework.WithDefaultACL(open...)
	for _, opts := range [][]framework.Option{{provider, list}, {list, provider}} {
		client, err := framework.NewClient("host", retry.None(), opts...)
		if client != nil || !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "cannot be combined") {
			t.Errorf("together with WithACLProvider: %v", err)
		}
	}
}

// What only a server knows fails where the nodes are created.
func TestDefaultACLRefusedByServer(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		for _, acl := range []framework.ACL{framework.AuthACL(), {Perms: framework.PermAll, Scheme: "nobody-knows", ID: "x"}} {
			client, _ := b.Client(t, framework.WithDefaultACL(acl))
			_, err := client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), b.Path("x"))
			suite.WantErr(t, err, framework.ErrInvalidACL)
			_, err = client.Create().CreatingParentsIfNeeded().WithACL(open...).WithACLOnParents().ForPath(t.Context(), b.Path("open"))
			if err != nil {
				t.Errorf("%s: with an ACL of its own: %v", acl, err)
			}
			if err := client.Delete().DeletingChildrenIfNeeded().ForPath(t.Context(), strings.TrimSuffix(b.Path(""), "/")); err != nil {
				t.Error(err)
			}
		}
	})
}

// The list is for each node that a client makes, in every way, and that is given none. It is a copy.
func TestDefaultACL(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		acl := []framework.ACL{framework.DigestACL("app", "secret"), framework.WorldACL(framework.PermRead)}
		given := slices.Clone(acl)
		client, _ := b.Client(t, framework.WithDefaultACL(given...), framework.WithAuthorization("digest", []byte("app:secret")))
		clear(given)
		ctx, root := t.Context(), b.Path("root")
		create := func(c *framework.Client) framework.CreateBuilder {
			return c.Create().CreatingParentContainersIfNeeded()
		}
		op := func(path string) framework.Op { return client.TransactionOp().Create().ForPath(root + path) }
		for what, call := range map[string]func() error{
			"create": func() error { return second(create(client).WithProtection().ForPath(ctx, root+"/create/a/b")) },
			"sequential": func() error {
				return second(create(client).WithMode(framework.EphemeralSequential).ForPath(ctx, root+"/seq/"))
			},
			"time": func() error {
				return second(create(client).WithMode(framework.PersistentWithTTL).WithTTL(1e12).ForPath(ctx, root+"/ttl/x"))
			},
			"namespace": func() error { return second(create(client.UsingNamespace(root[1:]+"/ns")).ForPath(ctx, "/a/b")) },
			"exists": func() error {
				return second(client.CheckExists().CreatingParentsIfNeeded().ForPath(ctx, root+"/exists/a/b"))
			},
			"mkdirs":      func() error { return paths.Mkdirs(ctx, client, root+"/mkdirs/a") },
			"transaction": func() error { return second(client.Transaction().ForOperations(ctx, op("/tx"), op("/tx/a"))) },
			"batch":       func() error { return second(client.Batch().ForOperations(ctx, op("/batch"), op("/batch/a"))) },
		} {
			if err := paths.Mkdirs(ctx, client, root); err != nil {
				t.Fatal(err)
			}
			if err := call(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		n := 0
		for path := range tree(t, client, strings.TrimSuffix(b.Path(""), "/")) {
			n++
			if got, err := client.GetACL().ForPath(ctx, path); err != nil || !slices.Equal(got, acl) {
				t.Errorf("%s: %v, %v", path, got, err)
			}
		}
		if n != 20 {
			t.Errorf("%d nodes", n)
		}
		// The server takes the credentials for those of the entry, and no others.
		for user, want := range map[string]error{"app:secret": nil, "app:Secret": framework.ErrNoAuth, "other:secret": framework.ErrNoAuth} {
			other, _ := b.Client(t, framework.WithAuthorization("digest", []byte(user)))
			if _, err := other.SetData().ForPath(ctx, root, nil); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", user, err, want)
			}
		}
	})
}

// second drops a value.
func second[T any](_ T, err error) error { return err }

// tree iterates over the paths of a node and of all below it.
func tree(t *testing.T, client *framework.Client, top string) func(yield func(path string) bool) {
	return func(yield func(path string) bool) {
		for todo := []string{top}; len(todo) > 0; todo = todo[1:] {
			if !yield(todo[0]) {
				return
			}
			names, err := client.GetChildren().ForPath(t.Context(), todo[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				todo = append(todo, paths.Make(todo[0], name))
			}
		}
	}
}

// Every node of the client is for the bearers of the password alone, and may be read by all.
func ExampleWithDefaultACL() {
	ctx := context.Background()
	client := start(ctx,
		framework.WithDefaultACL(framework.DigestACL("app", "secret"), framework.WorldACL(framework.PermRead)),
		framework.WithAuthorization("digest", []byte("app:secret")))
	defer client.Close(ctx)

	if _, err := client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/example-acl/node"); err != nil {
		log.Fatal(err)
	}
	acl, err := client.GetACL().ForPath(ctx, "/example-acl")
	fmt.Println(acl, err)
	// Output: [digest:app:F6Y+U5gIoCbNNoLQExmvxRFeatA=:cdrwa world:anyone:r] <nil>
}
