package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// patience is the longest session timeout of the server patient: sessions outlive what happens to their
// connections, however busy the machine is.
const patience = 10 * time.Minute

// patient returns a real server.
func patient(t *testing.T) *suite.Backend {
	t.Helper()
	return suite.RealWith(t, "patient", curatortest.WithSessionTimeouts(time.Second, patience))
}

func TestConnectionStates(t *testing.T) {
	t.Parallel()
	t.Run("virtual", func(t *testing.T) {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			c, network := b.Client(t)
			next := testConnectionStates(t, c, network)
			heal := network.Isolate()
			next(state.Suspended, state.Lost)
			heal()
			next(state.Reconnected)
		})
	})
	if testing.Short() { // as suite.Each
		return
	}
	t.Run("real", func(t *testing.T) {
		c, network := patient(t).Client(t, framework.WithSessionTimeout(patience))
		testConnectionStates(t, c, network)
	})
}

// testConnectionStates ends the connection and the session. It returns a function that wants the states
// that come next.
func testConnectionStates(t *testing.T, c *framework.Client, network *suite.Network) func(want ...state.ConnectionState) {
	t.Helper()
	states := make(chan state.ConnectionState, 16)
	next := func(want ...state.ConnectionState) {
		t.Helper()
		for _, w := range want {
			if s := <-states; s != w {
				t.Fatalf("state %v, want %v", s, w)
			}
		}
	}
	if err := c.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the first state", func() bool { return c.ConnectionState() == state.Connected })
	c.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		if s != state.Connected { // it may be on its way still
			states <- s
		}
	})
	network.Cut()
	next(state.Suspended, state.Reconnected)
	network.Expire(t)
	next(state.Suspended, state.Lost, state.Reconnected)
	return next
}
