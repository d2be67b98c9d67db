package curatortest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// hasConnection reports whether a server has a connection of a client's session, as it says itself.
func hasConnection(t *testing.T, m *curatortest.Member, c *rawclient.Client) bool {
	t.Helper()
	conn := dialTCP(t, m.Address())
	defer conn.Close()
	if _, err := io.WriteString(conn, "cons"); err != nil {
		t.Fatal(err)
	}
	connections, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(connections), fmt.Sprintf("sid=0x%x,", c.Session.SessionID))
}

// dialAndResume resumes a session on a connection of its own.
func dialAndResume(c *rawclient.Client, address string) error {
	conn, err := net.Dial("tcp", address) // which may be reset before it is there
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = tryResume(c, conn)
	return err
}

// TestLinkToClients breaks each direction between a server and its clients.
func TestLinkToClients(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t).Member(0)
	for _, tt := range []struct {
		direction                curatortest.Direction
		endsAtClient, atTheOther bool
	}{
		{curatortest.ToServer, true, false},
		{curatortest.ToClient, false, true},
		{curatortest.Both, true, true},
	} {
		t.Run("Reset/"+tt.direction.String(), func(t *testing.T) {
			c := connectTCP(t, server.ConnectString())
			do(t, c, jute.OpPing, nil)
			heal := server.Clients(tt.direction).Reset()
			if tt.endsAtClient {
				endsSoon(t, c)
			} else {
				silent(t, c.Conn)
			}
			if tt.atTheOther {
				eventually(t, "the server's end ends", func() bool { return !hasConnection(t, server, c) })
			} else if !hasConnection(t, server, c) {
				t.Error("the server's end has ended")
			}
			if err := dialAndResume(c, server.ConnectString()); err == nil || errors.Is(err, rawclient.ErrExpired) {
				t.Errorf("a new connection: %v", err)
			}
			heal()
			heal()
			endsSoon(t, c)
			c = resume(t, c, dialTCP(t, server.ConnectString()))
			do(t, c, jute.OpPing, nil)
		})
		t.Run("Delay/"+tt.direction.String(), func(t *testing.T) {
			const delay = 100 * time.Millisecond
			c := connectTCP(t, server.ConnectString())
			link := server.Clients(tt.direction)
			heal := link.Delay(delay)
			least := delay
			if tt.direction == curatortest.Both {
				least = 2 * delay
			}
			start := time.Now()
			do(t, c, jute.OpPing, nil)
			if took := time.Since(start); took < least {
				t.Errorf("an answer after %v", took)
			}
			heal()
			heal()
			eventually(t, "answers are fast again", func() bool {
				start := time.Now()
				do(t, c, jute.OpPing, nil)
				return time.Since(start) < delay
			})
		})
	}
	t.Run("GivesUp", func(t *testing.T) {
		heal := server.Clients(curatortest.ToServer).Silence()
		gone, waiting := dialTCP(t, server.ConnectString()), dialTCP(t, server.ConnectString())
		gone.Close()
		connected := make(chan *rawclient.Client)
		go func() {
			defer close(connected)
			if c, err := rawclient.Connect(waiting, jute.ConnectRequest{TimeOut: 10000}); err == nil {
				connected <- c
			}
		}()
		silent(t, dialTCP(t, server.ConnectString()))
		heal()
		if c, ok := <-connected; !ok {
			t.Error("a client that waited is not connected at the heal")
		} else {
			do(t, c, jute.OpPing, nil)
		}
	})
}

// endsSoon fails the test unless a connection ends before any timeout.
func endsSoon(t *testing.T, c *rawclient.Client) {
	t.Helper()
	if err := c.Conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if f, err := c.Receive(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("not the end: %+v, %v", f, err)
	}
}

// TestLinkBetweenServers breaks the links of one ensemble, and isolates its servers. All of that heals.
func TestLinkBetweenServers(t *testing.T) {
	t.Parallel()
	const tick = 300 * time.Millisecond
	const syncLimit = 30
	const notices = syncLimit * tick / 2 // well before a server notices by the sync limit
	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithTickTime(tick),
		curatortest.WithSyncLimit(syncLimit), curatortest.WithInitLimit(20), curatortest.WithSessionTimeouts(tick, longSession))

	for name, tt := range map[string]struct {
		link   func(follower, leader *curatortest.Member) curatortest.Link
		passes bool
	}{
		"From":     {func(f, l *curatortest.Member) curatortest.Link { return f.From(l) }, false},
		"To":       {func(f, l *curatortest.Member) curatortest.Link { return f.To(l).Quorum() }, false},
		"Peers":    {func(f, l *curatortest.Member) curatortest.Link { return l.Peers(f) }, false},
		"Election": {func(f, _ *curatortest.Member) curatortest.Link { return f.Peers().Election() }, true},
	} {
		t.Run("Silence/"+name, func(t *testing.T) {
			f := follower(ensemble)
			testSilence(t, f, tt.link(f, ensemble.Leader()), tt.passes)
		})
	}
	t.Run("Delay", func(t *testing.T) {
		const delay = 200 * time.Millisecond
		f := follower(ensemble)
		c := connectTCP(t, f.ConnectString())
		defer f.From(ensemble.Leader()).Delay(delay)()
		start := time.Now()
		do(t, c, jute.OpSync, &jute.PathRequest{Path: "/"})
		if took := time.Since(start); took < delay || took > notices {
			t.Errorf("sync took %v", took)
		}
	})
	t.Run("Reset/To", func(t *testing.T) {
		f := follower(ensemble)
		c := connectTCP(t, f.ConnectString())
		heal := f.To(ensemble.Leader()).Reset()
		start := time.Now()
		endsSoon(t, c)
		if took := time.Since(start); took > notices {
			t.Errorf("the follower has noticed after %v", took)
		}
		heal()
		awaitCaughtUp(t, f)
	})
	t.Run("Reset/From", func(t *testing.T) { testDeposed(t, ensemble, notices) })
	t.Run("Isolate/Follower", func(t *testing.T) { testIsolateFollower(t, ensemble) })
	t.Run("Isolate/Leader", func(t *testing.T) { testIsolateLeader(t, ensemble) })
}

// testSilence checks whether a follower gets changes from its leader while a link is silent. The link
// is healed before either server notices.
func testSilence(t *testing.T, follower *curatortest.Member, link curatortest.Link, passes bool) {
	t.Helper()
	c := connectTCP(t, follower.ConnectString())
	heal, again := link.Silence(), link.Silence()
	if _, err := c.Send(jute.OpSync, &jute.PathRequest{Path: "/"}); err != nil {
		t.Fatal(err)
	}
	if !passes {
		if answered(t, c) {
			t.Error("the leader is heard of")
		}
		heal()
		if answered(t, c) {
			t.Error("half of the damage is healed, and the leader is heard of")
		}
		again()
	}
	if err := c.Conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Receive(); err != nil {
		t.Errorf("the leader is not heard of: %v", err)
	}
	heal() // of a link that does not matter
	again()
}

// testDeposed checks that the followers of a leader that they cannot hear elect another one, and that
// the old leader, which does not notice, still serves its clients and new ones.
func testDeposed(t *testing.T, ensemble *curatortest.Ensemble, notices time.Duration) {
	t.Helper()
	old, c, heal := depose(t, ensemble, notices)
	defer heal()
	if mode := old.Mode(); mode != "leader" {
		t.Errorf("the deposed leader is %q", mode)
	}
	do(t, c, jute.OpPing, nil)
	old.Clients(curatortest.Both).Reset()()
	endsSoon(t, c)
	c = resume(t, c, dialTCP(t, old.ConnectString()))
	do(t, c, jute.OpExists, read("/"))
	ended(t, c) // the old leader has noticed
	heal()
	awaitCaughtUp(t, old)
}

// depose has the others elect a leader, while the old one, which is returned with a client, does not notice. That can be
// judged only if the election ends before it notices, which a slow machine may need several elections for.
func depose(t *testing.T, ensemble *curatortest.Ensemble, notices time.Duration) (*curatortest.Member, *rawclient.Client, func()) {
	t.Helper()
	for range 5 {
		old := ensemble.Leader()
		c := connectTCP(t, old.ConnectString())
		heal := old.From().Reset()
		start := time.Now()
		eventually(t, "the others elect a leader", func() bool {
			for _, m := range ensemble.Members() {
				if m != old && m.Mode() == "leader" {
					return true
				}
			}
			return false
		})
		if time.Since(start) < notices {
			return old, c, sync.OnceFunc(heal)
		}
		heal()
		awaitCaughtUp(t, old)
	}
	t.Fatalf("no election takes less than %v", notices)
	return nil, nil, nil
}

// awaitCaughtUp waits until a server has a quorum again.
func awaitCaughtUp(t *testing.T, m *curatortest.Member) {
	t.Helper()
	eventually(t, "the server has caught up", func() bool {
		c, err := rawclient.Connect(dialTCP(t, m.ConnectString()), jute.ConnectRequest{TimeOut: 10000})
		if err != nil {
			return false
		}
		_, err = c.Do(jute.OpSync, &jute.PathRequest{Path: "/"})
		return err == nil
	})
}

// TestLinkToNobody asks for links that do not exist.
func TestLinkToNobody(t *testing.T) {
	t.Parallel()
	alone, err := curatortest.NewReal(1)
	if errors.Is(err, curatortest.ErrNotInstalled) {
		curatortest.Real(t) // it fails or skips the test
	}
	if err != nil {
		t.Fatal(err)
	}
	m := alone.Member(0)
	m.To().Silence()()
	m.From(m).Reset()()
	m.Clients(curatortest.Both).Delay(-time.Second)()
	m.Clients(curatortest.Both).Quorum().Silence() // this link is empty
	var none curatortest.Link
	none.Reset()()
	none.Delay(-time.Second)()
	none.And(m.Clients(curatortest.Both)).Reset()()
	connectTCP(t, m.ConnectString())
	err = alone.Close()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("what went wrong: %v", err)
	}
}

// follower returns a member that does not lead.
func follower(e *curatortest.Ensemble) *curatortest.Member {
	if m := e.Member(0); m != e.Leader() {
		return m
	}
	return e.Member(1)
}

// eventually waits until ok returns true, or fails the test. It is like suite.Eventually, which this
// package does not import, because all packages between them would be compiled again for its tests.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); {
		waited := time.Since(begin)
		if waited > time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
		<-time.After(max(2*time.Millisecond, waited/8))
	}
}

// testIsolateFollower isolates a follower. It answers its clients with old data until it notices that
// it has lost its leader. Afterwards it catches up.
func testIsolateFollower(t *testing.T, ensemble *curatortest.Ensemble) {
	lost := follower(ensemble)
	near, far := connectTCP(t, lost.ConnectString()), connectTCP(t, ensemble.Leader().ConnectString())
	heal := lost.Isolate()
	do(t, far, jute.OpCreate, create("/new", 0))
	do(t, near, jute.OpPing, nil)
	if f, err := near.Do(jute.OpExists, read("/new")); err != nil || f.Err != jute.CodeNoNode {
		t.Errorf("a read from the past: %v, code %d", err, f.Err)
	}
	isolated := time.Now()
	ended(t, near)
	t.Logf("the follower has noticed after %v", time.Since(isolated))
	heal()
	heal()
	eventually(t, "the follower serves again and has caught up", func() bool {
		c, err := rawclient.Connect(dialTCP(t, lost.ConnectString()), jute.ConnectRequest{TimeOut: 4000})
		if err != nil {
			return false
		}
		do(t, c, jute.OpSync, &jute.PathRequest{Path: "/new"})
		do(t, c, jute.OpExists, read("/new"))
		return true
	})
}

// testIsolateLeader isolates the leader. The others elect a new leader, and the
// old one follows it afterwards.
func testIsolateLeader(t *testing.T, ensemble *curatortest.Ensemble) {
	old := ensemble.Leader()
	c := connectTCP(t, old.ConnectString())
	heal := old.Isolate()
	ended(t, c) // the old leader stops serving, because it has no followers
	next := ensemble.Leader()
	if next == old {
		t.Fatal("a server alone leads")
	}
	far := connectTCP(t, next.ConnectString())
	do(t, far, jute.OpCreate, create("/newer", 0))
	heal()
	eventually(t, "the old leader follows", func() bool {
		c, err := rawclient.Connect(dialTCP(t, old.ConnectString()), jute.ConnectRequest{TimeOut: 4000})
		if err != nil {
			return false
		}
		do(t, c, jute.OpSync, &jute.PathRequest{Path: "/newer"})
		do(t, c, jute.OpExists, read("/newer"))
		return true
	})
	if ensemble.Leader() != next {
		t.Error("another one leads")
	}
}
