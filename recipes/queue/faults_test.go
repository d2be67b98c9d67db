package queue_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// The states of a consumer, each with the request that a fault befalls; running has none.
const (
	watching = jute.OpAddWatch     // the queue is about to be watched
	listing  = jute.OpGetChildren2 // the lists are about to be read
	claiming = jute.OpCreate2      // the lock node is about to be created, and the item read
	reading  = jute.OpGetData      // at most once: the item is about to be read
	settling = jute.OpMulti        // at least once: the item is about to be removed
	deleting = jute.OpMulti        // at most once: the item is about to be deleted
	running  = jute.Op(0)          // its function runs
)

// cell is a fault in a state of a consumer.
type cell struct {
	name  string
	state jute.Op
	fate  suite.Fate         // of the request; 0 in the state running
	fault func(r *faultyRun) // happens with the request, or while the function runs; nil for none
	fn    func(ctx context.Context) error
	want  int  // how often the item is handed over, to this consumer and to another one
	late  bool // the item may wait for the end of a session
}

// faultyRun is one consumer that meets a fault, with the item "x".
type faultyRun struct {
	*fixture
	client  *framework.Client
	network *suite.Network
	*consumer
}

// What functions do after the fault.
func succeed(context.Context) error { return nil }
func fail(context.Context) error    { return errors.New("the function failed") }
func untilEnd(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}
func succeedAfterEnd(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Faults.
func expire(r *faultyRun)      { r.network.Expire(r.fixture.t) }
func cut(r *faultyRun)         { r.network.Cut() }
func lag(r *faultyRun)         { r.network.Lag() }
func endCtx(r *faultyRun)      { r.cancel() }
func deleteItem(r *faultyRun)  { r.delete(r.path + "/" + r.fixture.items()[0]) }
func deleteQueue(r *faultyRun) { r.delete(r.path) }
func deleteLocks(r *faultyRun) { r.delete(r.locks) }
func deleteLock(r *faultyRun)  { r.delete(r.locks + "/" + r.lockNodes()[0]) }

func closeClient(r *faultyRun) { suite.StartClose(r.fixture.t, r.client) }

func (f *fixture) delete(path string) {
	f.t.Helper()
	if err := f.observer.Delete().DeletingChildrenIfNeeded().ForPath(f.t.Context(), path); err != nil {
		f.t.Error(err)
	}
}

// lookingCells is the part of the fault tables that is the same for every consumer: it looks for
// items.
var lookingCells = []cell{
	{name: "watch not sent", state: watching, fate: suite.CutBefore, want: 1},
	{name: "watch's reply lost", state: watching, fate: suite.CutAfter, want: 1},
	{name: "list not sent", state: listing, fate: suite.CutBefore, want: 1},
	{name: "list's reply lost", state: listing, fate: suite.CutAfter, want: 1},
	{name: "list, session lost", state: listing, fate: suite.CutAfter, fault: expire, want: 1},
	{name: "list, lagging server", state: listing, fate: suite.CutAfter, fault: lag, want: 1},
	{name: "list, queue deleted", state: listing, fate: suite.Late, fault: deleteQueue, want: 0},
}

// atLeastOnceCells is the rest of the fault table of a consumer with a lock path.
var atLeastOnceCells = []cell{
	{name: "claim not sent", state: claiming, fate: suite.CutBefore, want: 1},
	{name: "claim's reply lost", state: claiming, fate: suite.CutAfter, want: 1},
	{name: "claim not sent, session lost", state: claiming, fate: suite.CutBefore, fault: expire, want: 1},
	{name: "claim's reply and session lost", state: claiming, fate: suite.CutAfter, fault: expire, want: 1},
	{name: "claim, lagging server", state: claiming, fate: suite.CutAfter, fault: lag, want: 1},
	{name: "claim, item deleted", state: claiming, fate: suite.Late, fault: deleteItem, want: 0},
	{name: "claim, queue deleted", state: claiming, fate: suite.Late, fault: deleteQueue, want: 0},
	{name: "claim, lock path deleted", state: claiming, fate: suite.Late, fault: deleteLocks, want: 1},
	{name: "claim not sent, ctx ends", state: claiming, fate: suite.CutBefore, fault: endCtx, want: 1},
	{name: "claim's reply lost, ctx ends", state: claiming, fate: suite.CutAfter, fault: endCtx, want: 1},
	{name: "claim's reply lost, client closed", state: claiming, fate: suite.CutAfter, fault: closeClient, want: 1, late: true},

	{name: "run, suspended, function succeeds", state: running, fault: cut, fn: succeedAfterEnd, want: 1},
	{name: "run, suspended, function ends with its context", state: running, fault: cut, fn: untilEnd, want: 2},
	{name: "run, session lost", state: running, fault: expire, fn: succeedAfterEnd, want: 2},
	{name: "run, item deleted", state: running, fault: deleteItem, want: 1},
	{name: "run, item deleted, function fails", state: running, fault: deleteItem, fn: fail, want: 1},
	{name: "run, lock deleted", state: running, fault: deleteLock, fn: succeedAfterEnd, want: 2},
	{name: "run, queue deleted", state: running, fault: deleteQueue, want: 1},
	{name: "run, lock path deleted", state: running, fault: deleteLocks, fn: succeedAfterEnd, want: 2},
	{name: "run, function fails", state: running, fault: func(*faultyRun) {}, fn: fail, want: 2},
	{name: "run, ctx ends, function succeeds", state: running, fault: endCtx, fn: succeedAfterEnd, want: 1},
	{name: "run, ctx ends, function ends with it", state: running, fault: endCtx, fn: untilEnd, want: 2},
	{name: "run, client closed", state: running, fault: closeClient, fn: untilEnd, want: 2},

	{name: "settle not sent", state: settling, fate: suite.CutBefore, want: 1},
	{name: "settle's reply lost", state: settling, fate: suite.CutAfter, want: 1},
	{name: "settle not sent, session lost", state: settling, fate: suite.CutBefore, fault: expire, want: 2},
	{name: "settle's reply and session lost", state: settling, fate: suite.CutAfter, fault: expire, want: 1},
	{name: "settle, lagging server", state: settling, fate: suite.CutAfter, fault: lag, want: 1},
	{name: "settle, item deleted", state: settling, fate: suite.Late, fault: deleteItem, want: 1},
	{name: "settle, lock deleted", state: settling, fate: suite.Late, fault: deleteLock, want: 2},
	{name: "settle, queue deleted", state: settling, fate: suite.Late, fault: deleteQueue, want: 1},
	{name: "settle, lock path deleted", state: settling, fate: suite.Late, fault: deleteLocks, want: 2},
	{name: "settle not sent, ctx ends", state: settling, fate: suite.CutBefore, fault: endCtx, want: 1},
	{name: "settle's reply lost, ctx ends", state: settling, fate: suite.CutAfter, fault: endCtx, want: 1},
	{name: "settle not sent, client closed", state: settling, fate: suite.CutBefore, fault: closeClient, want: 2, late: true},
	{name: "put back not sent", state: settling, fate: suite.CutBefore, fn: fail, want: 2},
	{name: "put back's reply lost", state: settling, fate: suite.CutAfter, fn: fail, want: 2},
	{name: "put back, session lost", state: settling, fate: suite.CutBefore, fault: expire, fn: fail, want: 2},
	{name: "put back's reply and session lost", state: settling, fate: suite.CutAfter, fault: expire, fn: fail, want: 2},
}

// atMostOnceCells is the rest of the fault table of a consumer without a lock path.
var atMostOnceCells = []cell{
	{name: "read not sent", state: reading, fate: suite.CutBefore, want: 1},
	{name: "read's reply lost", state: reading, fate: suite.CutAfter, want: 1},
	{name: "read, session lost", state: reading, fate: suite.CutAfter, fault: expire, want: 1},
	{name: "read, lagging server", state: reading, fate: suite.CutAfter, fault: lag, want: 1},
	{name: "read, item deleted", state: reading, fate: suite.Late, fault: deleteItem, want: 0},
	{name: "read, queue deleted", state: reading, fate: suite.Late, fault: deleteQueue, want: 0},
	{name: "read, ctx ends", state: reading, fate: suite.CutAfter, fault: endCtx, want: 1},
	{name: "read, client closed", state: reading, fate: suite.CutAfter, fault: closeClient, want: 1},

	{name: "delete not sent", state: deleting, fate: suite.CutBefore, want: 1},
	{name: "delete's reply lost", state: deleting, fate: suite.CutAfter, want: 0},
	{name: "delete not sent, session lost", state: deleting, fate: suite.CutBefore, fault: expire, want: 1},
	{name: "delete's reply and session lost", state: deleting, fate: suite.CutAfter, fault: expire, want: 0},
	{name: "delete, lagging server", state: deleting, fate: suite.CutAfter, fault: lag, want: 0},
	{name: "delete, item deleted", state: deleting, fate: suite.Late, fault: deleteItem, want: 0},
	{name: "delete, queue deleted", state: deleting, fate: suite.Late, fault: deleteQueue, want: 0},
	{name: "delete not sent, ctx ends", state: deleting, fate: suite.CutBefore, fault: endCtx, want: 1},
	{name: "delete, ctx ends", state: deleting, fate: suite.Late, fault: endCtx, want: 1},
	{name: "delete not sent, client closed", state: deleting, fate: suite.CutBefore, fault: closeClient, want: 1},

	{name: "run, suspended", state: running, fault: cut, want: 1},
	{name: "run, session lost", state: running, fault: expire, want: 1},
	{name: "run, queue deleted", state: running, fault: deleteQueue, want: 1},
	{name: "run, function fails", state: running, fault: func(*faultyRun) {}, fn: fail, want: 1},
	{name: "run, ctx ends", state: running, fault: endCtx, fn: untilEnd, want: 1},
	{name: "run, client closed", state: running, fault: closeClient, want: 1},
}

// cheap are the cells that run on a real server, too.
var cheap = map[string]bool{
	"claim's reply lost": true, "settle's reply lost": true, "delete's reply lost": true, "list's reply lost": true,
	"settle's reply and session lost": true, "settle, lock deleted": true, "run, queue deleted": true,
}

func TestFaultsAtLeastOnce(t *testing.T) {
	t.Parallel()
	testCells(t, true, slices.Concat(lookingCells, atLeastOnceCells))
}

func TestFaultsAtMostOnce(t *testing.T) {
	testCells(t, false, slices.Concat(lookingCells, atMostOnceCells))
}

func testCells(t *testing.T, locked bool, cells []cell) {
	for _, c := range cells {
		on := suite.InVirtualTime
		if cheap[c.name] {
			on = suite.InVirtualTime | suite.OnRealServer
		}
		t.Run(c.name, func(t *testing.T) {
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b, locked)
				b.NeedPersistentWatches(t, f.observer) // TestConsumeOnOldServer has the others
				c.test(f)
			})
		})
	}
}

// test has a consumer meet the fault with the item "x", and another one take what is left. Then
// both get on with other items, and nothing is left.
func (c cell) test(f *fixture) {
	r := &faultyRun{fixture: f}
	r.client, r.network = f.b.Client(f.t)
	fn := c.fn
	if fn == nil {
		fn = succeed
	}
	met, goOn := make(chan struct{}), make(chan struct{})
	first := true
	function := func(ctx context.Context, m message) error {
		if m.Item != "x" || !first {
			return nil
		}
		first = false
		if c.state == running {
			close(met)
			<-goOn
		}
		return fn(ctx)
	}
	early := c.state == watching || c.state == listing
	f.put("warm-up")
	if early {
		f.put("x")
	} else {
		r.consumer = f.consume(f.queue(r.client).Consume, function)
		r.consumer.want("warm-up")
		f.drained()
	}
	start := time.Now()
	var hit <-chan struct{} = met
	if c.state != running {
		hit = r.network.On(c.state, c.fate, func() {
			if c.fault != nil {
				c.fault(r)
			}
		})
	}
	if early {
		r.consumer = f.consume(f.queue(r.client).Consume, function)
	} else {
		f.put("x")
	}
	<-hit
	if c.state == running {
		c.fault(r)
		close(goOn)
	}
	c.finish(r, start)
}

// finish has another consumer take what is left, and looks at what has become of "x".
func (c cell) finish(r *faultyRun, start time.Time) {
	f := r.fixture
	heir := f.consume(f.queue(f.observer).Consume, nil)
	times := func() (n int) {
		for _, item := range append(r.consumer.items(), heir.items()...) {
			if item == "x" {
				n++
			}
		}
		return n
	}
	suite.Eventually(f.t, "the item", func() bool { return times() >= c.want })
	f.drained()
	took := time.Since(start)
	f.put("last")
	f.drained()
	if n := times(); n != c.want {
		f.t.Errorf("handed over %d times, want %d: %q and %q", n, c.want, r.consumer.items(), heir.items())
	}
	if f.b.Virtual && !c.late && took >= suite.SessionTimeout {
		f.t.Errorf("that took %v, as long as a session", took)
	}
	if closed := errors.Is(r.client.Start(f.t.Context()), framework.ErrClosed); closed {
		<-r.consumer.ended
		suite.WantErr(f.t, r.consumer.err, framework.ErrClosed)
		r.consumer.err = nil
	}
	r.consumer.stop()
	heir.stop()
	f.nothingLeft()
}
