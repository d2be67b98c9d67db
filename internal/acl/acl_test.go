package acl_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
)

func TestMain(m *testing.M) { suite.Main(m) }

// env is what a recipe of the table is tried in.
type env struct {
	*testing.T
	client *framework.Client
	dir    string          // where the recipe is to make its nodes; it and its parent do not exist
	acl    []framework.ACL // for WithACL; nil for none

	virtual  bool
	operator *framework.Client // may see everything, in no namespace
	top      string            // of the nodes of this test, as the operator names it

	mu   sync.Mutex
	seen map[string][]string // what the server has shown: ACLs by the names of nodes
}

// The ACLs of the tests: everybody may read, but only its user may do more. So a client with all credentials
// can use each, and they differ.
func aclOf(user string) []framework.ACL {
	return []framework.ACL{framework.DigestACL(user, "password"), framework.WorldACL(framework.PermRead)}
}

var (
	ofRecipe   = aclOf("recipe")
	ofClient   = aclOf("client")
	ofProvider = aclOf("provider")
)

// always is an ACL provider with one list.
type always []framework.ACL

func (a always) ACLForPath(string) []framework.ACL { return a }

func credentials() (opts []framework.Option) {
	for _, user := range []string{"recipe", "client", "provider"} {
		opts = append(opts, framework.WithAuthorization("digest", []byte(user+":password")))
	}
	return opts
}

func newEnv(t *testing.T, b *suite.Backend, acl []framework.ACL, opts ...framework.Option) *env {
	t.Helper()
	e := &env{T: t, virtual: b.Virtual, acl: acl, dir: b.Path("dir"), top: strings.TrimSuffix(b.Path(""), "/"), seen: map[string][]string{}}
	e.operator, _ = b.Client(t, credentials()...)
	e.client, _ = b.Client(t, append(opts, credentials()...)...)
	return e
}

// with returns the recipe's option, or none. of is the WithACL of its package.
func with[O any](e *env, of func(acl ...framework.ACL) O, more ...O) []O {
	if e.acl == nil {
		return more
	}
	return append(more, of(e.acl...))
}

// full returns a path of the client's as the operator names it.
func (e *env) full(path string) string {
	if ns := e.client.Namespace(); ns != "" {
		return "/" + ns + path
	}
	return path
}

// settle waits until nothing more happens by itself, in virtual time.
func (e *env) settle() {
	if e.virtual {
		synctest.Wait()
	}
}

// look notes what the server has now. The recipes call it when they have nodes.
func (e *env) look() {
	e.Helper()
	e.settle()
	for todo := []string{e.top}; len(todo) > 0; todo = todo[1:] {
		path := todo[0]
		names, err := e.operator.GetChildren().ForPath(e.Context(), path)
		var acl []framework.ACL
		if err == nil {
			acl, err = e.operator.GetACL().ForPath(e.Context(), path)
		}
		if errors.Is(err, framework.ErrNoNode) { // it has gone meanwhile
			continue
		}
		e.ok(err)
		e.note(strings.TrimPrefix(path, e.top), fmt.Sprint(acl))
		for _, name := range names {
			todo = append(todo, paths.Make(path, name))
		}
	}
}

var variable = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{10,}|\|[0-9A-F]{8,}\|`)

func (e *env) note(path, acl string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	path = variable.ReplaceAllString(path, "#")
	if !slices.Contains(e.seen[path], acl) {
		e.seen[path] = append(e.seen[path], acl)
	}
}

func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// must returns what a constructor or a call has returned.
func must[T any](v T, err error) func(e *env) T {
	return func(e *env) T {
		e.Helper()
		e.ok(err)
		return v
	}
}

// started starts a component, which is closed at the end.
func (e *env) started(c framework.Component) {
	e.Helper()
	e.ok(c.Start(e.Context()))
	e.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(e.Context())); err != nil {
			e.Error(err)
		}
	})
}

// recipe is one of the table.
type recipe struct {
	name  string
	nodes []string // that it makes below env.dir; "" is that itself
	run   func(e *env)
}

// want compares what was seen with the nodes of a recipe. other has the ACL of what is not the recipe's: paths
// below env.top.
func (r *recipe) want(e *env, acl []framework.ACL, other map[string][]framework.ACL) {
	e.Helper()
	dir := strings.TrimPrefix(e.full(e.dir), e.top)
	want := map[string]string{"": fmt.Sprint(acl)}
	for parent := dir; parent != "/"; parent, _ = paths.ParentAndNode(parent) {
		want[parent] = fmt.Sprint(acl)
	}
	for _, node := range r.nodes {
		want[dir+node] = fmt.Sprint(acl)
	}
	for path, acl := range other {
		want[path] = fmt.Sprint(acl)
	}
	for path, acl := range want {
		if got := e.seen[path]; !slices.Equal(got, []string{acl}) {
			e.Errorf("%q has %q, want %q", path, got, acl)
		}
	}
	for path := range maps.Keys(e.seen) {
		if want[path] == "" {
			e.Errorf("the table does not have %q", path)
		}
	}
}

// Every node that a recipe makes has the ACL of WithACL, else that of the client, else everybody may do
// everything.
func TestEveryNode(t *testing.T) {
	for _, r := range recipes() {
		t.Run(r.name, func(t *testing.T) {
			suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, ofRecipe, framework.WithDefaultACL(ofClient...))
				r.run(e)
				r.want(e, ofRecipe, nil)
			})
		})
	}
}

func TestPrecedence(t *testing.T) {
	for name, tt := range map[string]struct {
		acl  []framework.ACL
		opts []framework.Option
		want []framework.ACL
	}{
		"neither":                      {nil, nil, framework.OpenACLUnsafe()},
		"WithACL":                      {ofRecipe, nil, ofRecipe},
		"WithDefaultACL":               {nil, []framework.Option{framework.WithDefaultACL(ofClient...)}, ofClient},
		"WithACLProvider":              {nil, []framework.Option{framework.WithACLProvider(always(ofProvider))}, ofProvider},
		"WithACL over WithACLProvider": {ofRecipe, []framework.Option{framework.WithACLProvider(always(ofProvider))}, ofRecipe},
	} {
		for _, r := range recipes() {
			t.Run(r.name+", "+name, func(t *testing.T) {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					e := newEnv(t, b, tt.acl, tt.opts...)
					r.run(e)
					r.want(e, tt.want, nil)
				})
			})
		}
	}
}

// The nodes of a namespace are for all that use it: they have the client's ACL, whoever makes them.
func TestNamespace(t *testing.T) {
	for _, r := range recipes() {
		t.Run(r.name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, ofRecipe, framework.WithDefaultACL(ofClient...), framework.WithNamespace(b.Path("ns")[1:]))
				e.dir = "/parent/dir"
				r.run(e)
				r.want(e, ofRecipe, map[string][]framework.ACL{"": ofClient, "/ns": ofClient})
			})
		})
	}
}

// Views of a recipe's client have its ACL, and what all recipes of a client share. A create's own ACL counts more.
func TestViews(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, nil, framework.WithDefaultACL(ofClient...))
		client := zkclient.WithACL(e.client, zkclient.NewACL(ofRecipe))
		view := client.UsingNamespace(e.top[1:]).WatcherRemovingView()
		for _, create := range []framework.CreateBuilder{
			view.Create(), view.Create().WithACL(ofProvider...), e.client.UsingNamespace(e.top[1:]).Create(),
		} {
			must(create.WithMode(framework.PersistentSequential).ForPath(e.Context(), "/x"))(e)
			e.look()
		}
		want := []string{fmt.Sprint(ofRecipe), fmt.Sprint(ofProvider), fmt.Sprint(ofClient)}
		if got := e.seen["/x#"]; !slices.Equal(got, want) || !slices.Equal(e.seen[""], want[2:]) {
			t.Errorf("%q", e.seen)
		}
		if zkclient.Of(client).Identity() != zkclient.Of(e.client).Identity() || client.State() != framework.Started {
			t.Error("the view is another client")
		}
		if err := client.Close(e.Context()); !errors.Is(err, framework.ErrView) {
			t.Errorf("Close returned %v", err)
		}
	})
}

// A recipe with an ACL sends the requests of one without.
func TestRequests(t *testing.T) {
	counted := regexp.MustCompile(` ?(auth|events|writes)=\d+`) // of several goroutines some share a write
	for _, r := range recipes() {
		t.Run(r.name, func(t *testing.T) {
			var sent [2]string
			for i, acl := range [][]framework.ACL{nil, ofRecipe} {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					e := newEnv(t, b, acl)
					client, traffic := suite.Tapped(t, b.Server(), append(credentials(),
						framework.WithoutEnsembleTracker(), framework.WithLogger(slog.New(slog.DiscardHandler)))...)
					e.client = client
					r.run(e)
					e.settle()
					sent[i] = counted.ReplaceAllString(traffic.Take(), "")
				})
			}
			if sent[0] != sent[1] || sent[0] == "" {
				t.Errorf("without %s, with it %s", sent[0], sent[1])
			}
		})
	}
}
