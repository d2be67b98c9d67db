package zkconn_test

import (
	"context"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// counted is a network that counts the requests that are sent over it.
type counted struct {
	dial dialFunc
	mu   sync.Mutex
	ops  map[jute.Op]int
}

func (n *counted) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := n.dial(ctx, network, address)
	return overheard{c, func(p []byte) {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, op := range opsOf(p) {
			n.ops[op]++
		}
	}}, err
}

// take returns how many syncs and transactions there were since it was called last.
func (n *counted) take() (syncs, multis int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	syncs, multis = n.ops[jute.OpSync], n.ops[jute.OpMulti]
	clear(n.ops)
	return syncs, multis
}

func (t *fixture) openCounted(change func(*zkconn.Config)) *counted {
	t.Helper()
	n := &counted{dial: t.server.DialContext, ops: map[jute.Op]int{}}
	t.connect(t.server.ConnectString(), n.connect, change)
	return n
}

// nearest returns how near the deadline comes while something is repeated for d.
func (t *fixture) nearest(d time.Duration, session int64, do func()) (least time.Duration) {
	t.Helper()
	least = time.Hour
	for end := time.Now().Add(d); time.Now().Before(end); {
		do()
		deadline, ok := t.conn.Deadline(session)
		if !ok {
			t.Fatal("the session is over")
		}
		least = min(least, time.Until(deadline))
	}
	return least
}

// A client in use is proved every 0.3 T or so, whatever else it does, and with no more requests
// than that takes; the deadline never comes nearer than 0.27 T. One that writes needs none.
func TestRuleS2Beats(t *testing.T) {
	pause := func(*fixture) { time.Sleep(timeout / 50) }
	for name, c := range map[string]struct {
		do        func(*fixture)
		answer    time.Duration // how long the server takes for every request
		syncProof bool
		syncs     int // at most, in 100 T
		multis    int
	}{
		"idle":           {pause, 0, false, 380, 380},
		"a slow server":  {pause, timeout / 50, false, 380, 380},
		"reads":          {func(t *fixture) { pause(t); t.want(t.conn.Do(t.Context(), 0, exists("/"))) }, 0, false, 380, 380},
		"writes":         {func(t *fixture) { pause(t); t.want(t.conn.Do(t.Context(), 0, set("/written"))) }, 0, false, 2, 2},
		"without writes": {pause, 0, true, 760, 0},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				n := t.openCounted(func(cfg *zkconn.Config) { cfg.SyncProof = c.syncProof })
				session, err := t.conn.Connected(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				made, _ := create("/written", 0)
				t.do(made)
				if c.answer > 0 {
					t.server.Inject(curatortest.Rule{Do: curatortest.Delay(c.answer), Times: math.MaxInt})
				}
				if least := t.nearest(100*timeout, session, func() { c.do(t) }); least < timeout*27/100-4*c.answer {
					t.Errorf("the deadline came as near as %v", least)
				}
				if syncs, multis := n.take(); syncs > c.syncs || multis > c.multis {
					t.Errorf("%d syncs, %d transactions, want at most %d and %d", syncs, multis, c.syncs, c.multis)
				}
			})
		})
	}
}

// A client that nobody uses sends nothing but the driver's pings. When it is used again the first
// write is enough for T/8, and the proof comes meanwhile.
func TestRuleS2NoBeatsWhenIdle(t *testing.T) {
	virtual(t, func(t *fixture) {
		n := t.openCounted(nil)
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.conn.Unuse()
		time.Sleep(2 * timeout)
		n.take()
		for phase := range 7 { // of the pings
			time.Sleep(10*timeout + time.Duration(phase)*timeout/20)
			if syncs, multis := n.take(); syncs+multis > 0 {
				t.Errorf("%d syncs, %d transactions of an idle client", syncs, multis)
			}
			if deadline, _ := t.conn.Deadline(session); time.Now().Before(deadline) {
				t.Errorf("an idle session is believed in for %v", time.Until(deadline))
			}
			t.took()
			t.conn.Use()
			made, _ := create("/used", jute.FlagEphemeral|jute.FlagSequential)
			t.do(made)
			if deadline, _ := t.conn.Deadline(session); time.Until(deadline) != timeout/8 {
				t.Errorf("after a write the deadline is in %v", time.Until(deadline))
			}
			if least := t.nearest(3*timeout, session, func() { time.Sleep(timeout / 100) }); least < timeout/12 {
				t.Errorf("the deadline came as near as %v", least)
			}
			if kinds, _ := t.took(); len(kinds) > 0 {
				t.Errorf("events %v", kinds)
			}
			t.conn.Unuse()
			time.Sleep(2 * timeout)
			n.take()
		}
	})
}

// A handshake on an old session counts when a write was answered behind it, which comes at once.
func TestRuleS5Reconnect(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(timeout / 2)
		before, _ := t.conn.Deadline(session)
		t.server.Inject(curatortest.Rule{Op: "multi", Do: curatortest.Delay(timeout / 8)})
		t.server.Disconnect()
		synctest.Wait()
		t.want(t.conn.Ready(t.Context()))
		synctest.Wait()
		if deadline, ok := t.conn.Deadline(session); !ok || !deadline.Equal(before) {
			t.Errorf("the handshake moved the deadline by %v, %t", deadline.Sub(before), ok)
		}
		reconnected := time.Now()
		time.Sleep(timeout / 8)
		synctest.Wait()
		if deadline, _ := t.conn.Deadline(session); deadline.Before(reconnected.Add(timeout*7/8 - timeout/50)) {
			t.Errorf("the deadline is %v after the reconnect", deadline.Sub(reconnected))
		}
	})
}

// Once the deadline has passed the session is relied on again after two proofs.
func TestRuleS6AfterASilence(t *testing.T) {
	virtual(t, func(t *fixture) {
		n := t.openCounted(func(cfg *zkconn.Config) { cfg.LossPercent = 100 })
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resume := t.server.Pause()
		time.Sleep(timeout * 15 / 16)
		resume()
		synctest.Wait()
		began := time.Now()
		n.take()
		if err := t.conn.AwaitProof(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		if _, multis := n.take(); multis < 1 || time.Since(began) < timeout/4 {
			t.Errorf("the session is relied on %v after the silence, and %d transactions", time.Since(began), multis)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := t.conn.AwaitProof(ctx, session); err != nil {
			t.Errorf("%v, although the session can be relied on", err)
		}
		if err := t.conn.AwaitProof(t.Context(), session+1); err == nil {
			t.Error("a session that is over is relied on")
		}
	})
}

// accepted is a SASL mechanism that has nothing to say.
type accepted struct{}

func (accepted) Name() string { return "NONE" }

func (accepted) Next(context.Context, []byte) ([]byte, bool, error) { return nil, true, nil }

// AwaitProof returns soon when there will be no more proof.
func TestAwaitProofEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(t *fixture, refuse func())
		want error
	}{
		"closed": {func(t *fixture, _ func()) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			t.want(t.conn.Close(ctx), zkconn.ErrConnectionLoss)
		}, zkconn.ErrClosed},
		"credentials rejected": {func(_ *fixture, refuse func()) { refuse() }, zkconn.ErrAuthFailed},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				var refused atomic.Bool
				t.open(func(cfg *zkconn.Config) {
					cfg.SASL = func(context.Context, string) (zkconn.Mechanism, error) {
						if refused.Load() {
							return nil, zkconn.ErrAuthFailed
						}
						return accepted{}, nil
					}
				})
				session, err := t.conn.Connected(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				resume := t.server.Pause()
				time.Sleep(timeout * 15 / 16)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				waited := make(chan error, 1)
				go func() { waited <- t.conn.AwaitProof(ctx, session) }()
				synctest.Wait() // it waits
				began := time.Now()
				c.end(t, func() {
					refused.Store(true)
					t.server.Disconnect()
					resume()
				})
				if t.want(<-waited, c.want); time.Since(began) > timeout/32 { // the session is over after a sixteenth
					t.Errorf("it took %v", time.Since(began))
				}
			})
		})
	}
}

func set(path string) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: path, Version: -1}, Res: &jute.StatResponse{}}
}

// S4: without a margin of the user's, belief ends an eighth of the timeout before the server may end
// the session, counted from the request that the server has heard last.
func TestRuleS4OfTheDefaultMargin(t *testing.T) {
	virtual(t, func(t *fixture) {
		began := time.Now()
		t.open(func(*zkconn.Config) {})
		if err := t.conn.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		session, granted := t.conn.Session()
		deadline, ok := t.conn.Deadline(session)
		if most := began.Add(granted * 7 / 8); !ok || deadline.After(most) || t.conn.Margin() != granted/8 {
			t.Errorf("the deadline is %v after the start, the margin %v of %v", deadline.Sub(began), t.conn.Margin(), granted)
		}
	})
}
