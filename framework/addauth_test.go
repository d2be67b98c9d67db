package framework_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

var secret = []byte("user:s3cret")

// TestAddAuth adds credentials to clients, whatever happens to the connection meanwhile.
func TestAddAuth(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		owner, _ := b.Client(t, framework.WithAuthorization("digest", secret))
		path := b.Path("own")
		if _, err := owner.Create().WithACL(framework.CreatorAllACL()...).CreatingParentsIfNeeded().ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		read := func(c *framework.Client, want error) {
			t.Helper()
			if _, err := c.GetData().ForPath(t.Context(), path); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		}
		for name, fault := range map[string]func(n *suite.Network){
			"no fault":   func(*suite.Network) {},
			"cut before": func(n *suite.Network) { n.On(jute.OpAuth, suite.CutBefore, nil) },
			"cut after":  func(n *suite.Network) { n.On(jute.OpAuth, suite.CutAfter, nil) },
		} {
			c, network := b.Client(t)
			read(c, framework.ErrNoAuth)
			fault(network)
			if err := c.UsingNamespace("a").AddAuth(t.Context(), "digest", secret); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for range 2 {
				read(c, nil)
				network.Cut()
			}
			read(c, nil)
			before := network.Requests(jute.OpAuth)
			for range 3 { // kept once
				if err := c.AddAuth(t.Context(), "digest", secret); err != nil {
					t.Fatal(err)
				}
			}
			network.Cut()
			read(c, nil)
			if n := network.Requests(jute.OpAuth) - before; n != 4 {
				t.Errorf("%s: %d credentials were sent, want 4", name, n)
			}
		}
	})
}

// A credential that is refused is not kept, and the client works on.
func TestAddAuthRefused(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for range 2 {
			err := c.AddAuth(t.Context(), "s3cret scheme", secret)
			if !errors.Is(err, framework.ErrAuthFailed) || framework.Retryable(err) || strings.Contains(fmt.Sprintf("%+v", err), "s3cret") {
				t.Errorf("error %v", err)
			}
			network.Cut()
			if _, err := c.CheckExists().ForPath(t.Context(), "/"); err != nil {
				t.Errorf("after it was refused: %v", err)
			}
		}
		if n := network.Requests(jute.OpAuth); n != 2 {
			t.Errorf("%d credentials were sent, want 2", n)
		}
		if err := c.AddAuth(t.Context(), "digest", secret); err != nil {
			t.Error(err)
		}
	})
}

func TestAddAuthRefusesArguments(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for _, scheme := range []string{"", "\xff"} {
			if err := c.AddAuth(t.Context(), scheme, secret); !errors.Is(err, framework.ErrInvalidOption) {
				t.Errorf("scheme %q: %v", scheme, err)
			}
		}
		if err := c.AddAuth(t.Context(), "digest", make([]byte, 1<<20)); !errors.Is(err, framework.ErrTooLarge) {
			t.Errorf("much: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.AddAuth(ctx, "digest", secret); !errors.Is(err, context.Canceled) {
			t.Errorf("context: %v", err)
		}
		if n := network.Requests(jute.OpAuth); n != 0 {
			t.Errorf("%d were sent", n)
		}
		var none *framework.Client
		if err := none.AddAuth(t.Context(), "digest", secret); !errors.Is(err, framework.ErrNotStarted) {
			t.Errorf("nil client: %v", err)
		}
	})
}

func ExampleClient_AddAuth() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	if err := client.AddAuth(ctx, "digest", []byte("app:secret")); err != nil {
		fmt.Println(err)
	}
	path, err := client.Create().WithACL(framework.CreatorAllACL()...).ForPath(ctx, "/of-app")
	fmt.Println(path, err)
	// Output: /of-app <nil>
}
