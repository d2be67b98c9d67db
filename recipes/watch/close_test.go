package watch_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// A change that was made before Close is called is told, also if its event is still on its way. Other
// watchers of the same path, with which the server's watch stays, make no difference.
func TestChangesBeforeClose(t *testing.T) {
	for name, shared := range map[string]bool{"alone": false, "with another watcher": true} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, framework.PersistentRecursive)
				e.start()
				if shared {
					other := &env{t: t, b: b, path: e.path}
					other.watch(e.client, e.path, framework.PersistentRecursive)
					other.start()
				}
				b.Server().Inject(curatortest.Rule{Op: "exists", SessionID: e.client.SessionID(), Do: curatortest.Delay(time.Second)})
				slow := make(chan error, 1)
				go func() {
					_, err := e.client.CheckExists().ForPath(t.Context(), "/")
					slow <- err
				}()
				synctest.Wait() // what the server sends now waits for the answer
				e.create(e.path)
				e.set(e.path)
				e.close(t.Context())
				if want := []string{"created /watched", "data /watched"}; !slices.Equal(e.told, want) {
					t.Errorf("told of %q, want %q", e.told, want)
				}
				if err := <-slow; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
