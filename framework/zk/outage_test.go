package zk_test

import (
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/suite"
)

// A session without an ephemeral node outlives an outage of three timeouts, if the servers have kept it, as with the
// driver, and so do its watches. One with an ephemeral node is given up.
func TestLongOutage(t *testing.T) {
	for _, holding := range []bool{false, true} {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			c, ch, _ := connect(t, b)
			await(t, ch, zk.StateHasSession)
			id := c.SessionID()
			if holding {
				if _, err := c.Create("/ephemeral", nil, zk.FlagEphemeral, world); err != nil {
					t.Fatal(err)
				}
			}
			_, _, watch, err := c.ExistsW("/n")
			if err != nil {
				t.Fatal(err)
			}
			b.Server().Stop()
			time.Sleep(3 * sessionTimeout)
			b.Server().Start()
			states := await(t, ch, zk.StateHasSession)
			if slices.Contains(states, zk.StateExpired) != holding || (c.SessionID() == id) == holding {
				t.Errorf("%v, session %#x after %#x", states, c.SessionID(), id)
			}
			makeAll(t, c, "/n")
			if e := next(t, watch); (e.Type == zk.EventNodeCreated) == holding || (e.Err == zk.ErrSessionExpired) != holding { //nolint:errorlint // the driver's own value
				t.Errorf("the watch gets %v", e)
			}
		})
	}
}
