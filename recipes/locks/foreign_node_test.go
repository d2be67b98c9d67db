package locks_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// The reply to a create is lost, and when the client looks for its node, there is one of its name that
// belongs to another session, as after the end of its own. The client does not take it for its own,
// which would go with that session: it makes another node.
func TestForeignNodeIsNotAdopted(t *testing.T) {
	onBackends(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		e.release(e.acquire(e.mutex)) // the directory is there
		foreign := ""
		e.network.On(jute.OpCreate2, suite.CutAfter, func() {
			for _, name := range e.nodes() {
				foreign = e.path + "/" + name
			}
			e.delete(foreign)
			if _, err := e.observer.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), foreign); err != nil {
				t.Error(err)
			}
		})
		a := e.start(t.Context(), e.mutex)
		time.Sleep(time.Minute)
		for _, name := range e.nodes() {
			if path := e.path + "/" + name; path == foreign {
				e.delete(path)
			}
		}
		lease := e.granted(a)
		stat, err := e.observer.CheckExists().ForPath(t.Context(), lease.Path())
		if foreign == "" || lease.Path() == foreign || !stat || err != nil {
			t.Errorf("granted by %q, %v, %v; the other client's was %q", lease.Path(), stat, err, foreign)
		}
		e.release(lease)
		e.wantNodes(0)
	})
}
