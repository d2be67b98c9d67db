package locks_test

import "testing"

// A contender whose node the inspecting client may not read is listed without its data, and the
// others are listed with theirs.
func TestInspectListsUnreadableContenders(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		holder := e.acquire(e.lock(private(t, e.b, "holder:a")))
		waiter := e.queue(t.Context(), e.lock(e.client), 2)
		i := e.look("mutex", []string{holder.Path()}, []string{e.path + "/" + e.nodes()[1]})
		c := i.Holders[0]
		if c.Data != "" || c.Owner != "" || c.TraceParent != "" || c.Token != holder.Token() || c.SessionID == 0 || c.Since.IsZero() {
			t.Errorf("the holder is %+v", c)
		}
		if c := i.Waiters[0]; c.Data == "" || c.Owner == "" {
			t.Errorf("the waiter is %+v", c)
		}
		e.release(holder)
		e.release(e.granted(waiter))
	})
}
