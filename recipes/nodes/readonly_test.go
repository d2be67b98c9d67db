package nodes_test

import (
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/state"
)

// TestReadOnly has a server without a quorum, which is behind, while a node is kept, and then while it is
// closed: it shows neither the node nor its end. Close deletes the node when there is a quorum again, and
// the kept node stays the same one.
func TestReadOnly(t *testing.T) {
	for name, mode := range map[string]framework.CreateMode{"ephemeral": framework.Ephemeral, "persistent": framework.Persistent} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, framework.WithReadOnly(), framework.WithSessionTimeout(suite.LongSession))
				node := e.keep(mode)
				e.start()
				made := e.until(ours)
				alone := func() (restore func()) {
					restore = e.network.WithoutQuorum()
					suite.Eventually(t, "a connection for reads alone", func() bool { return e.client.ConnectionState() == state.ReadOnly })
					synctest.Wait()
					return restore
				}
				back := func(restore func()) {
					restore()
					suite.Eventually(t, "a quorum", func() bool { return e.client.ConnectionState() == state.Reconnected })
				}
				back(alone())
				synctest.Wait()
				if now := e.until(ours); now.Czxid != made.Czxid || now.Mzxid != made.Mzxid {
					t.Errorf("the kept node is %+v, it was %+v", now, made)
				}
				restore := alone()
				closing := make(chan error, 1)
				go func() { closing <- node.Close(t.Context()) }()
				synctest.Wait()
				back(restore)
				if err := <-closing; err != nil {
					t.Errorf("Close: %v", err)
				}
				if left := e.names(); len(left) > 0 {
					t.Errorf("left behind Close: %q", left)
				}
			})
		})
	}
}
