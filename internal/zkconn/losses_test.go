package zkconn_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// ledger records what happens to a connection, in order: losses, and the ends of calls.
type ledger struct {
	*fixture
	mu     sync.Mutex
	losses []zkconn.Event
	early  []error // of calls that have ended while a loss was told, or before
	told   bool    // the loss that is waited for
}

// watched opens a connection whose losses are recorded. Telling takes a second, in which no call may end.
func watched(t *fixture, until func(e zkconn.Event) bool, open func(change func(*zkconn.Config))) *ledger {
	return watchedFor(t, time.Second, until, open)
}

// watchedFor is watched, with the time that telling takes.
func watchedFor(t *fixture, telling time.Duration, until func(e zkconn.Event) bool, open func(change func(*zkconn.Config))) *ledger {
	l := &ledger{fixture: t}
	open(func(cfg *zkconn.Config) {
		cfg.OnLoss = func(e zkconn.Event) {
			<-time.After(telling)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.losses = append(l.losses, e)
			l.told = l.told || until(e)
		}
	})
	return l
}

// call records the end of a call.
func (l *ledger) call(do func() error) *sync.WaitGroup {
	var wg sync.WaitGroup
	wg.Go(func() {
		err := do()
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil && !l.told {
			l.early = append(l.early, err)
		}
	})
	return &wg
}

// wantBehind wants no call to have ended before the loss was told.
func (l *ledger) wantBehind() {
	l.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.early) > 0 || !l.told {
		l.Errorf("told: %t, %d calls have ended too early: %v", l.told, len(l.early), l.early)
	}
}

func isSuspended(e zkconn.Event) bool {
	return e.Kind == zkconn.StateChanged && e.State == state.Suspended
}

func isOver(e zkconn.Event) bool { return e.Kind == zkconn.SessionEnded }

// ends are the ways in which a connection ends while calls wait.
var ends = map[string]struct {
	end  func(t *fixture)
	wait time.Duration // until it is noticed
}{
	"by the server":   {func(t *fixture) { t.server.Disconnect() }, 0},
	"another list":    {func(t *fixture) { t.conn.SetServers([]string{"elsewhere:1"}) }, 0},
	"silence":         {func(*fixture) {}, timeout}, // its server is paused
	"presumed":        {func(*fixture) {}, timeout}, // before the silence is too long
	"session expired": {func(t *fixture) { id, _ := t.conn.Session(); t.server.ExpireSession(id) }, 0},
}

// However a connection ends, no call of it ends before the loss was told, whichever way it waits.
func TestCallsEndBehindLosses(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				l := watched(t, isSuspended, func(change func(*zkconn.Config)) {
					t.open(func(cfg *zkconn.Config) {
						change(cfg)
						if name == "presumed" {
							cfg.LossPercent = 50
						}
					})
				})
				if _, err := t.conn.Connected(t.Context()); err != nil {
					t.Fatal(err)
				}
				t.took()
				time.Sleep(2 * time.Second) // CONNECTED is told
				session, _ := t.conn.Session()
				resume := t.server.Pause()
				defer resume()
				var calls []*sync.WaitGroup
				for range 3 {
					calls = append(calls, l.call(func() error { return t.conn.Do(t.Context(), 0, exists("/")) }))
					calls = append(calls, l.call(func() error { return t.conn.Do(t.Context(), session, set("/")) }))
					calls = append(calls, l.call(func() error {
						done := make(chan error, 1)
						if _, queued := t.conn.Start(0, func(f *zkconn.Flight) { done <- f.Result() }, exists("/")); !queued {
							return errors.New("not queued")
						}
						return <-done
					}))
				}
				synctest.Wait()
				if name != "silence" && name != "presumed" {
					resume()
				}
				c.end(t)
				time.Sleep(c.wait + 10*time.Second)
				resume()
				for _, wg := range calls {
					wg.Wait()
				}
				l.wantBehind()
			})
		})
	}
}

// A call that begins while a loss is told ends behind it, too.
func TestNewCallsEndBehindLosses(t *testing.T) {
	virtual(t, func(t *fixture) {
		l := watched(t, isOver, t.open)
		session := t.connected()
		time.Sleep(2 * time.Second)
		t.server.ExpireSession(session)
		var calls []*sync.WaitGroup
		for range 300 { // over the time in which the losses are told
			time.Sleep(10 * time.Millisecond)
			calls = append(calls, l.call(func() error { // bound to the session
				err := t.conn.Do(t.Context(), session, exists("/"))
				if !errors.Is(err, zkconn.ErrSessionExpired) {
					return nil // it was pending on the connection
				}
				return err
			}))
			calls = append(calls, l.call(func() error { return t.conn.AwaitProof(t.Context(), session) }))
		}
		for _, wg := range calls {
			wg.Wait()
		}
		l.wantBehind()
	})
}

// A server answers that the session is over, and keeps the connection: the loss is told before the caller has
// the answer, and the client gets a new session.
func TestExpiredAnswer(t *testing.T) {
	virtual(t, func(t *fixture) {
		l := watched(t, isOver, t.open)
		session := t.connected()
		time.Sleep(2 * time.Second)
		t.server.Inject(curatortest.Rule{Op: "exists", Path: "/a", Do: curatortest.Fail(zkconn.ErrSessionExpired)})
		call := exists("/a")
		l.call(func() error {
			if err := t.conn.Do(t.Context(), 0, call); err != nil {
				return err
			}
			return call.Err
		}).Wait()
		t.want(call.Err, zkconn.ErrSessionExpired)
		l.wantBehind()
		t.do(exists("/"))
		if next, _ := t.conn.Session(); next == session {
			t.Error("the client goes on with its session")
		}
		if _, states := t.took(); !slices.Contains(states, state.Lost) {
			t.Errorf("states %v", states)
		}
	})
}

// A reply that cannot be decoded ends the connection, on the goroutine of its caller.
func TestBadReplyEndsBehindLosses(t *testing.T) {
	virtual(t, func(t *fixture) {
		l := watched(t, isSuspended, func(change func(*zkconn.Config)) {
			t.open(func(cfg *zkconn.Config) {
				change(cfg)
				cfg.Dial = hijack(func(c net.Conn) {
					c.Write(welcome())
					for {
						xid, _, err := request(c)
						if err != nil {
							return
						}
						if _, err := c.Write(frame((&jute.ReplyHeader{Xid: xid}).Append(nil))); err != nil { // without a body
							return
						}
					}
				})
			})
		})
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.conn.Unuse() // no proofs are asked for
		time.Sleep(2 * time.Second)
		var calls []*sync.WaitGroup
		for range 5 {
			calls = append(calls, l.call(func() error { return t.conn.Do(t.Context(), 0, exists("/")) }))
		}
		for _, wg := range calls {
			wg.Wait()
		}
		l.wantBehind()
	})
}

// OnEvent comes behind OnLoss, for the same events in the same order.
func TestLossesAndEvents(t *testing.T) {
	virtual(t, func(t *fixture) {
		l := watchedFor(t, 0, isOver, t.open)
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.server.Refuse()
		t.server.Disconnect()
		time.Sleep(2 * timeout)
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		events := slices.DeleteFunc(slices.Clone(t.events), func(e zkconn.Event) bool {
			return !slices.Contains([]zkconn.EventKind{zkconn.StateChanged, zkconn.DeadlinePassed, zkconn.SessionEnded}, e.Kind)
		})
		if !slices.Equal(events, l.losses) || len(events) != 5 { // CONNECTED, SUSPENDED, the deadline, the end, LOST
			t.Errorf("losses %v, events %v", l.losses, events)
		}
	})
}

// Nothing is sent on a connection that has ended while its loss is told.
func TestNothingIsSentBehindTheEnd(t *testing.T) {
	virtual(t, func(t *fixture) {
		var mu sync.Mutex
		var told bool
		sentLate := 0
		l := watched(t, isSuspended, func(change func(*zkconn.Config)) {
			t.open(func(cfg *zkconn.Config) {
				change(cfg)
				telling := cfg.OnLoss
				cfg.OnLoss = func(e zkconn.Event) {
					mu.Lock()
					told = told || isSuspended(e)
					mu.Unlock()
					telling(e)
				}
				cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := t.server.DialContext(ctx, network, address)
					return overheard{c, func(p []byte) {
						mu.Lock()
						defer mu.Unlock()
						if told && slices.Contains(opsOf(p), jute.OpSetData) {
							sentLate++
						}
					}}, err
				}
			})
		})
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		id, _ := t.conn.Session()
		ended := l.call(func() error {
			t.conn.SetServers([]string{"elsewhere:1"})
			return nil
		})
		var calls []*sync.WaitGroup
		for range 50 {
			time.Sleep(10 * time.Millisecond)
			// It gives up before the loss was told: behind that there is another connection.
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second/5)
			defer cancel()
			calls = append(calls, l.call(func() error {
				err := t.conn.Do(ctx, id, set("/"))
				if errors.Is(err, context.DeadlineExceeded) {
					return nil
				}
				return err
			}))
		}
		ended.Wait()
		for _, wg := range calls {
			wg.Wait()
		}
		l.wantBehind()
		mu.Lock()
		defer mu.Unlock()
		if sentLate > 0 {
			t.Errorf("%d requests were sent behind the end", sentLate)
		}
	})
}
