package requests_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { suite.Main(m) }

const (
	// latency makes requests that are sent together differ in time from those behind an answer.
	latency = time.Millisecond
	// dialing is how long it takes to dial, pause what a client waits for before it tries again.
	dialing = 4 * time.Second
	pause   = 2 * time.Second
	// settled is how long a step lasts. Pauses between tries are shorter, and so is the time after which a
	// waiter reads the nodes ahead of it.
	settled = 15 * time.Second
	// timeout is that of the sessions. So periodic proofs of the session come long after a case has ended.
	timeout = 20 * tick
	tick    = time.Minute
)

// fixture is a server of a case's own with two clients, and the text of what they send.
type fixture struct {
	*testing.T
	server        *curatortest.Server
	client, other *framework.Client
	wires         []*wire
	concurrent    bool // the operation has several goroutines: all steps are sorted
	sorted        bool // the requests of the present step are sorted
	text          strings.Builder
}

// virtually runs a case, and returns its text.
func virtually(t *testing.T, run func(f *fixture)) (text string) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t}
		f.server = curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(tick), curatortest.WithLatency(latency),
			curatortest.WithContainerCheckInterval(24*time.Hour))
		f.client = f.newClient("")
		f.other = f.newClient("other")
		run(f)
		text = f.text.String()
	})
	return text
}

// newClient returns a client whose requests are recorded below a name.
func (f *fixture) newClient(name string, opts ...framework.Option) *framework.Client {
	f.Helper()
	return f.trackingClient(name, append([]framework.Option{framework.WithoutEnsembleTracker()}, opts...)...)
}

// reopen replaces both clients by some with options.
func (f *fixture) reopen(opts ...framework.Option) {
	f.Helper()
	f.wires = nil
	f.client = f.newClient("", opts...)
	f.other = f.newClient("other", opts...)
}

// trackingClient is newClient without framework.WithoutEnsembleTracker.
func (f *fixture) trackingClient(name string, opts ...framework.Option) *framework.Client {
	f.Helper()
	w := &wire{name: name}
	f.wires = append(f.wires, w)
	c, err := framework.NewClient(f.server.ConnectString(), retry.NTimes(10, pause), append([]framework.Option{
		framework.WithDialer(w.tap(f.server.DialContext)), framework.WithSessionTimeout(timeout),
		framework.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)...)
	f.ok(err)
	f.ok(c.Start(f.Context()))
	f.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(f.Context())); err != nil {
			f.Error(err)
		}
	})
	return c
}

// step writes what the clients send because of fn, until nothing more is sent. What is done before the
// first step is not written.
func (f *fixture) step(what string, fn func()) {
	f.Helper()
	if f.text.Len() == 0 { // what was sent before is no part of the case
		settle()
		for _, w := range f.wires {
			w.take()
		}
	}
	f.sorted = false
	fn()
	settle()
	if f.sorted = f.sorted || f.concurrent; f.sorted {
		what += " (sorted)"
	}
	fmt.Fprintf(&f.text, "\t%s:\n", what)
	for _, w := range f.wires {
		f.write(w)
	}
}

// unordered is step for requests that goroutines send at the same time: those are sorted.
func (f *fixture) unordered(what string, fn func()) {
	f.Helper()
	f.step(what, func() { f.sorted = true; fn() })
}

// write writes a line for each request. Those that were sent at the same time as the one before begin with
// a plus sign.
func (f *fixture) write(w *wire) {
	sent := w.take()
	if f.sorted {
		sortMoments(sent)
	}
	for i, r := range sent {
		f.text.WriteString("\t\t")
		if w.name != "" {
			f.text.WriteString(w.name + ": ")
		}
		if i > 0 && sent[i-1].at.Equal(r.at) {
			f.text.WriteString("+ ")
		}
		f.text.WriteString(r.text + "\n")
	}
}

// sortMoments sorts the requests of each moment, but for those of the session, which must come first.
func sortMoments(sent []request) {
	for len(sent) > 0 {
		n := 1
		for n < len(sent) && sent[n].at.Equal(sent[0].at) {
			n++
		}
		rest := sent[:n]
		for len(rest) > 0 && (rest[0].text == "sync /" || strings.HasPrefix(rest[0].text, "auth ") || strings.HasPrefix(rest[0].text, "setWatches2 ")) {
			rest = rest[1:]
		}
		slices.SortFunc(rest, func(a, b request) int { return strings.Compare(a.text, b.text) })
		sent = sent[n:]
	}
}

// settle waits until nothing more is sent.
func settle() {
	time.Sleep(settled)
	synctest.Wait()
}

// cut is a step in which the client loses its connection, and has it back.
func (f *fixture) cut() {
	f.Helper()
	f.unordered("the connection is cut", func() { f.server.DisconnectSession(f.client.SessionID()) })
}

// expire is a step in which the client's session ends.
func (f *fixture) expire() {
	f.Helper()
	f.unordered("the session ends", func() { f.server.ExpireSession(f.client.SessionID()) })
}

// unanswered makes the client lose its connection in place of the next answer to an operation, in a step.
func (f *fixture) unanswered(op string) {
	f.Helper()
	f.sorted = true
	hit := f.server.Inject(curatortest.Rule{Op: op, SessionID: f.client.SessionID(), Do: curatortest.CutAfter()})
	f.Cleanup(func() {
		if !hit() {
			f.Errorf("no %s was sent", op)
		}
	})
}

// must fails the test if there is an error.
func (f *fixture) must(_ any, err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// ok is must for calls that return nothing else.
func (f *fixture) ok(err error) {
	f.Helper()
	f.must(nil, err)
}

// made returns what a constructor has made.
func made[T any](f *fixture, v T, err error) T {
	f.Helper()
	f.ok(err)
	return v
}

// nodes makes nodes without data.
func (f *fixture) nodes(paths ...string) {
	f.Helper()
	for _, path := range paths {
		f.must(f.other.Create().CreatingParentsIfNeeded().ForPath(f.Context(), path))
	}
}

// started starts a component that is not closed by the case itself, or that may be closed twice.
func started[C framework.Component](f *fixture, c C) C {
	f.Helper()
	f.ok(c.Start(f.Context()))
	f.Cleanup(func() { f.ok(c.Close(context.WithoutCancel(f.Context()))) })
	return c
}

// waits runs a call that waits, and returns a function that waits for its end.
func (f *fixture) waits(call func(ctx context.Context) error) (end func()) {
	done := make(chan error, 1)
	go func() { done <- call(f.Context()) }()
	return func() { f.Helper(); f.ok(<-done) }
}

// updates is the case of an iterator, and of one change of what it is about.
func updates[T any](op string, of func(f *fixture) (seq func(ctx context.Context) iter.Seq[T], change func())) tableCase {
	return tableCase{op, "one change", func(f *fixture) {
		seq, change := of(f)
		ctx, cancel := context.WithCancel(f.Context())
		done := make(chan struct{})
		f.step("call", func() {
			go func() {
				defer close(done)
				for range seq(ctx) {
				}
			}()
		})
		f.step("a change", change)
		f.step("the context ends", func() { cancel(); <-done })
	}}
}
