package curatortest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestSocketsInBubble uses sockets in a bubble, where they would stop the clock.
func TestSocketsInBubble(t *testing.T) {
	outside := curatortest.Start(t)
	synctest.Test(t, func(t *testing.T) {
		for name, use := range map[string]func(tb *fakeTB){
			"server": func(tb *fakeTB) { curatortest.Start(tb) },
			"client": func(tb *fakeTB) { outside.Client(tb) },
		} {
			tb := &fakeTB{}
			use(tb)
			tb.end()
			if got := strings.Join(tb.failures, "; "); len(tb.failures) != 1 || !strings.Contains(got, "Virtual") {
				t.Errorf("%s: failures: %q", name, got)
			}
		}
	})
}

// TestFaultsOfNoSession passes the id that a client has before it is connected.
func TestFaultsOfNoSession(t *testing.T) {
	tb := &fakeTB{}
	server := curatortest.Start(tb)
	none := new(framework.Client).SessionID()
	server.ExpireSession(none)
	server.DisconnectSession(none)
	server.PartitionSession(none, curatortest.Both)
	tb.end()
	if got := strings.Join(tb.logged, "; "); strings.Count(got, "BlockUntilConnected") != 3 || len(tb.failures) > 0 {
		t.Errorf("logged: %q, failures: %q", got, tb.failures)
	}
}
