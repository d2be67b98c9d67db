package blocking_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// outages are the ways in which no server is there, or none with a quorum. end ends them.
var outages = map[string]func(f *fixture) (end func()){
	"refused": func(f *fixture) (end func()) {
		accept := f.b.Server().Refuse()
		f.network.Cut()
		return accept
	},
	"silent": func(f *fixture) (end func()) { return f.network.Isolate() },
	"never connected": func(f *fixture) (end func()) {
		accept := f.b.Server().Refuse()
		f.client, f.network = f.b.Client(f.T, soonGivesUp)
		return accept
	},
	noQuorum: func(f *fixture) (end func()) {
		f.client, f.network = f.b.Client(f.T, soonGivesUp, framework.WithReadOnly())
		f.ok(f.client.BlockUntilConnected(f.Context()))
		back := f.network.WithoutQuorum()
		return func() {
			back()
			f.network.Cut()
		}
	},
}

// away is how long no server is there. The client's retry policy gives up meanwhile.
const away = 30 * time.Second

// noQuorum is the outage with a server that serves reads.
const noQuorum = "no quorum"

// eachOutage runs a test for every component whose Start does not wait while no server is there.
func eachOutage(t *testing.T, test func(f *fixture, l *late, outage string, end func())) {
	for outage, begin := range outages {
		for name, kinds := range inBackground {
			for _, kind := range kinds {
				t.Run(outage+"/"+name, func(t *testing.T) {
					suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
						f := newFixture(t, b, soonGivesUp)
						end := sync.OnceFunc(begin(f))
						defer end()
						test(f, f.late(kind), outage, end)
					})
				})
			}
		}
	}
}

// A component whose Start does not wait comes when the servers do, and not before.
func TestStartInBackground(t *testing.T) {
	eachOutage(t, func(f *fixture, l *late, outage string, end func()) {
		before := f.b.Watches()
		f.startLate(l)
		if err := l.Start(f.Context()); !errors.Is(err, framework.ErrAlreadyStarted) {
			f.Errorf("a second Start: %v", err)
		}
		<-time.After(away)
		if l.isThere() && outage != noQuorum {
			f.Error("it has told that it is there, without a server")
		}
		end()
		f.comes(l, time.Minute)
		f.ok(f.closed(l))
		f.nothingLeft(before)
	})
}

// Close ends a Start in the background that waits for servers, whether it has begun or not.
func TestCloseInBackgroundWithoutServers(t *testing.T) {
	for name, after := range map[string]time.Duration{"at once": 0, "while it waits": away} {
		t.Run(name, func(t *testing.T) {
			eachOutage(t, func(f *fixture, l *late, _ string, end func()) {
				before := f.b.Watches()
				f.startLate(l)
				<-time.After(after)
				_ = f.closed(l) // it may say that the server has confirmed nothing
				end()
				f.nothingLeft(before)
				if err := l.Start(f.Context()); !errors.Is(err, framework.ErrClosed) {
					f.Errorf("Start behind Close: %v", err)
				}
			})
		})
	}
}

// faults are what happens to one request of a Start. Each ends by itself.
var faults = map[string]func(f *fixture, op jute.Op) (hit <-chan struct{}){
	"cut before": func(f *fixture, op jute.Op) <-chan struct{} { return f.network.On(op, suite.CutBefore, nil) },
	"cut after":  func(f *fixture, op jute.Op) <-chan struct{} { return f.network.On(op, suite.CutAfter, nil) },
	"applied, and away for a while": func(f *fixture, op jute.Op) <-chan struct{} {
		return f.network.On(op, suite.CutAfter, f.outage)
	},
	"session ends ahead": func(f *fixture, op jute.Op) <-chan struct{} {
		return f.network.On(op, suite.CutBefore, f.expire)
	},
	"applied, and the session ends": func(f *fixture, op jute.Op) <-chan struct{} {
		return f.network.On(op, suite.CutAfter, f.expire)
	},
	"applied, and a server that is behind": func(f *fixture, op jute.Op) <-chan struct{} {
		return f.network.On(op, suite.CutAfter, f.network.Lag)
	},
}

func (f *fixture) outage() { time.AfterFunc(away, f.network.Isolate()) }

func (f *fixture) expire() { f.b.Server().ExpireSession(f.client.SessionID()) }

// requests are those that a Start may send.
var requests = map[string]jute.Op{
	"addWatch": jute.OpAddWatch, "create": jute.OpCreate2, "createContainer": jute.OpCreateContainer, "getData": jute.OpGetData,
	"exists": jute.OpExists, "getChildren": jute.OpGetChildren2,
}

// eachFault runs a test for every component whose Start does not wait, for every fault of one of its
// requests.
func eachFault(t *testing.T, test func(f *fixture, l *late, hit <-chan struct{})) {
	for fault, of := range faults {
		t.Run(fault, func(t *testing.T) {
			for name, op := range requests {
				t.Run(name, func(t *testing.T) {
					eachLate(t, func(f *fixture, l *late) { test(f, l, of(f, op)) })
				})
			}
		})
	}
}

// outlive waits for the end of a fault, if it has happened, and until everybody has heard of it.
func (f *fixture) outlive(hit <-chan struct{}) (happened bool) {
	select {
	case <-hit:
		<-time.After(2 * away)
		return true
	default:
		return false
	}
}

// One try that fails, whatever becomes of its request, is followed by another.
func TestStartInBackgroundFaults(t *testing.T) {
	eachFault(t, func(f *fixture, l *late, hit <-chan struct{}) {
		before := f.b.Watches()
		f.startLate(l)
		f.comes(l, 3*away)
		synctest.Wait() // it may send one more request
		happened := f.outlive(hit)
		if f.ok(f.closed(l)); happened {
			f.nothingLeft(before)
		}
	})
}

// Close leaves nothing behind, whatever was under way in the background.
func TestCloseInBackgroundFaults(t *testing.T) {
	eachFault(t, func(f *fixture, l *late, hit <-chan struct{}) {
		before := f.b.Watches()
		f.startLate(l)
		select {
		case <-hit:
		case <-l.told: // the request is none of its Start
		}
		_ = f.closed(l) // it may say that the server has confirmed nothing
		if f.outlive(hit) {
			f.nothingLeft(before)
		}
	})
}

// What another try may not change is told once, and tried again after pauses that grow to 30 s.
func TestStartInBackgroundRefused(t *testing.T) {
	eachLate(t, func(f *fixture, l *late) {
		f.refuse(2)
		unhandled := make(chan error, 100)
		f.client.UnhandledErrorListenable().Add(func(_ context.Context, err error) { unhandled <- err })
		f.startLate(l)
		<-time.After(100 * time.Millisecond)
		if l.isThere() {
			f.Error("it has told that it is there, and was refused")
		}
		f.comes(l, 5*time.Minute)
		if n := len(unhandled); n == 0 || n > 2 { // a member has a node of its own
			f.Errorf("%d errors were told", n)
		}
		if err := <-unhandled; !errors.Is(err, framework.ErrNoAuth) || !strings.Contains(err.Error(), "not started yet") {
			f.Errorf("unhandled: %v", err)
		}
		_ = f.closed(l) // it may be refused, too
	})
}

// refuse has the server refuse the next requests of each kind.
func (f *fixture) refuse(times int) {
	for _, op := range []string{"addWatch", "create", "createContainer", "getData", "exists", "getChildren"} {
		f.b.Server().Inject(curatortest.Rule{
			Op: op, SessionID: f.client.SessionID(), Times: times, Do: curatortest.Fail(framework.ErrNoAuth),
		})
	}
}

// Close ends the pause behind a refusal at once.
func TestCloseInBackgroundRefused(t *testing.T) {
	eachLate(t, func(f *fixture, l *late) {
		f.refuse(1 << 20)
		f.startLate(l)
		<-time.After(2 * time.Minute)
		begin := time.Now()
		_ = f.closed(l)
		if took := time.Since(begin); took > 2*time.Second {
			f.Errorf("Close took %v", took)
		}
	})
}

// What needs no server is refused at once, and nothing is started.
func TestStartInBackgroundRefuses(t *testing.T) {
	eachLate(t, func(f *fixture, l *late) {
		var none context.Context
		ended, cancel := context.WithCancel(f.Context())
		cancel()
		suite.WantErr(f.T, l.Start(none), framework.ErrInvalidOption)
		suite.WantErr(f.T, l.Start(ended), context.Canceled)
		synctest.Wait()
		if l.isThere() {
			f.Error("a Start that was refused has started something")
		}
		f.startLate(l)
		f.comes(l, time.Minute)
	})
	eachLate(t, func(f *fixture, l *late) {
		f.ok(f.client.Close(f.Context()))
		suite.WantErr(f.T, l.Start(f.Context()), framework.ErrClosed)
	})
}

// The Start of a component that waits gives up with the client's retry policy, also when it has created
// something that it cannot delete now.
func TestStartGivesUp(t *testing.T) {
	isolate := func(f *fixture) { f.Cleanup(f.network.Isolate()) }
	for when, goes := range map[string]func(f *fixture){
		"no server": isolate,
		"created, and no server": func(f *fixture) {
			f.network.On(jute.OpCreate2, suite.CutAfter, func() { isolate(f) })
		},
	} {
		for name, make := range components {
			t.Run(when+"/"+name, func(t *testing.T) {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					f := newFixture(t, b, soonGivesUp)
					c := make(f)
					defer c.Close(context.WithoutCancel(t.Context()))
					goes(f)
					ended := newResult()
					go func() { ended <- c.Start(context.WithoutCancel(t.Context())) }()
					select {
					case err := <-ended:
						if when == "no server" {
							suite.WantErr(t, err, framework.ErrConnectionLoss)
						}
					case <-time.After(time.Minute):
						t.Error("it waits on")
					}
				})
			})
		}
	}
}
