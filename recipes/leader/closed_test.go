package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// A latch that is closed behind its client, or together with it, has left the election if the client has
// closed its session: nothing is in doubt then. If the session may live on, Close says so.
func TestCloseAfterClient(t *testing.T) {
	for name, places := range map[string]func(m *member){
		"leading": func(m *member) { m.leads() },
		"waiting": func(m *member) { m.wantNoLead() },
		"suspended": func(m *member) {
			lease := m.leads()
			m.network.Isolate()
			m.network.Cut()
			<-lease.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				if name == "waiting" {
					rival := e.joined("rival")
					rival.leads()
					defer rival.close()
				}
				m := e.joined("m")
				places(m)
				nodes := e.nodes()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				confirmed := m.client.Close(ctx) == nil
				if confirmed != (name != "suspended") {
					t.Fatalf("the client has closed its session: %t", confirmed)
				}
				err := m.Close(t.Context())
				if !confirmed {
					suite.WantErr(t, err, locks.ErrReleasePending, framework.ErrClosed)
					return
				}
				if err != nil || len(e.nodes()) != len(nodes)-1 {
					t.Errorf("Close: %v; the nodes were %q and are %q", err, nodes, e.nodes())
				}
			})
		})
		if name == "suspended" { // there is no session to be closed
			continue
		}
		t.Run("together/"+name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				if name == "waiting" {
					rival := e.joined("rival")
					rival.leads()
					defer rival.close()
				}
				m := e.joined("m")
				places(m)
				closed := make(chan error, 1)
				go func() { closed <- m.client.Close(context.WithoutCancel(t.Context())) }()
				if err := m.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if err := <-closed; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
