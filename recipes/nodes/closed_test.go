package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// An ephemeral node is gone when its client has closed the session, and Close says so. If the session was left
// to its timeout the node may be there, and Close says that, too.
func TestCloseAfterClient(t *testing.T) {
	for name, start := range map[string]func(g *group) (closeIt func(ctx context.Context) error){
		"node": func(g *group) func(ctx context.Context) error {
			g.keep(framework.Ephemeral)
			g.start()
			return g.node.Close
		},
		"member": func(g *group) func(ctx context.Context) error { return g.joined(g.client, "m", "1").Close },
	} {
		for _, confirmed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					g := &group{newEnv(t, b)}
					closeIt := start(g)
					if !confirmed {
						g.network.Isolate()
						g.network.Cut()
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					if err := g.client.Close(ctx); (err == nil) != confirmed {
						t.Fatalf("Close of the client: %v", err)
					}
					err := closeIt(t.Context())
					if confirmed && err != nil {
						t.Errorf("Close: %v", err)
					} else if !confirmed {
						suite.WantErr(t, err, framework.ErrClosed)
					}
					if confirmed {
						g.wantNone()
					}
				})
			})
		}
	}
}

// The client is closed while Close of a node waits for the answer to the delete. Close says that, and not that
// something was canceled.
func TestClientClosedDuringClose(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.Persistent} {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.keep(mode)
			e.start()
			defer e.network.Isolate()()
			closed := make(chan error, 1)
			go func() { closed <- e.node.Close(context.WithoutCancel(t.Context())) }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			suite.WantErr(t, e.client.Close(ctx), framework.ErrConnectionLoss)
			suite.WantErr(t, <-closed, framework.ErrClosed)
		})
	}
}
