package suite

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/tools/curatortest"
)

// AsKeeper names the variable of the environment that, unless it is empty, has the tests run on the embedded server as
// ClickHouse Keeper, in virtual time alone. Some fail: they have a session resumed, or look at requests that Keeper does
// not know. Package internal/verify/matrix has a table of them.
const AsKeeper = "CURATOR_TEST_KEEPER"

func asKeeper() bool { return os.Getenv(AsKeeper) != "" }

// Keeper is Virtual with a server that does as ClickHouse Keeper.
func Keeper(t *testing.T, test func(t *testing.T, b *Backend)) {
	t.Helper()
	virtualOn(t, true, test)
}

// keeperNetwork is what a Network needs for a test that was written for ZooKeeper.
type keeperNetwork struct {
	t      *testing.T
	server *curatortest.Server
}

// keeperPatience is how long On waits for its request on a Keeper.
const keeperPatience = 10 * time.Minute

// giveUp ends the wait for a request that a Keeper is not sent, with an error of the test.
func (n *Network) giveUp(r *rule) {
	n.mu.Lock()
	i := slices.Index(n.rules, r)
	if i >= 0 {
		n.rules = slices.Delete(n.rules, i, i+1)
	}
	n.mu.Unlock()
	if i >= 0 {
		n.keeper.t.Errorf("no %s was sent", jute.OpName(r.op))
		close(r.hit)
	}
}

// expireAtKeeper is Expire where no session can be taken over.
func (n *Network) expireAtKeeper() {
	n.mu.Lock()
	id := n.session.SessionID
	n.mu.Unlock()
	n.keeper.server.DisconnectSession(id) // the connection closes before the session ends, as at a timeout
	n.keeper.server.ExpireSession(id)
}

// asSentToZooKeeper returns the request that the client would have sent to ZooKeeper.
func (n *Network) asSentToZooKeeper(op jute.Op) jute.Op {
	if n.keeper != nil && op == jute.OpCreate {
		return jute.OpCreate2
	}
	return op
}
