package locks_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// writing is a lock that is held by a writer, behind whom a writer and a reader wait.
type writing struct {
	*env
	rw             *locks.InterProcessReadWriteLock
	write          *locks.Lease
	writer, reader *acquisition
}

func onDowngrade(t *testing.T, on suite.Backends, test func(t *testing.T, w *writing)) {
	onRW(t, on, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		w := &writing{env: e, rw: rw, write: e.acquire(rw.WriteLock())}
		w.writer = e.queue(t.Context(), e.otherRW().WriteLock(), 2)
		w.reader = e.queue(t.Context(), e.otherRW().ReadLock(), 3)
		test(t, w)
		e.release(e.granted(w.writer))
		e.release(e.granted(w.reader))
		e.untilNodes(0)
		e.untilNoWatches()
	}, sessionPolicy)
}

// downgraded wants a read lease at the writer's place, with the others still out.
func (w *writing) downgraded(read *locks.Lease) {
	w.t.Helper()
	if read.Token() != w.write.Token() {
		w.t.Errorf("token %d, the writer's is %d", read.Token(), w.write.Token())
	}
	if number(read.Path()) != number(w.write.Path()) {
		w.t.Errorf("the reader's node is %q, the writer's was %q", read.Path(), w.write.Path())
	}
	if !w.b.Virtual { // on a busy machine the delete of the writer's node may go on
		w.untilNodes(3)
	}
	w.wantNodes(3)
	w.waiting(w.writer, w.reader)
	suite.OK(w.t, read.Verify(w.t.Context()))
}

// A downgrade lets no writer in between, also none that waits since before it.
func TestDowngrade(t *testing.T) {
	onDowngrade(t, withRealServer, func(t *testing.T, w *writing) {
		read := suite.Got(w.rw.Downgrade(t.Context(), w.write)).OK(t)
		suite.WantErr(t, w.write.Err(), locks.ErrReleased)
		suite.WantErr(t, context.Cause(w.write.Context()), locks.ErrReleased)
		w.downgraded(read)
		// It is a read lease like others: readers nest, writers do not.
		w.release(w.acquireFrom(read.Context(), w.rw.ReadLock()))
		suite.Got(w.rw.WriteLock().TryAcquire(read.Context())).Fails(t, locks.ErrDeadlock)
		w.release(read)
	})
}

// A writer's context takes the read lock beside the write lock, and keeps it after.
func TestDowngradeByContext(t *testing.T) {
	onDowngrade(t, withRealServer, func(t *testing.T, w *writing) {
		read := suite.Got(w.rw.ReadLock().TryAcquire(w.write.Context())).OK(t)
		w.wantNodes(4)
		// A write lease of a context that carries both nests.
		w.release(w.acquireFrom(read.Bind(w.write.Context()), w.rw.WriteLock()))
		w.waiting(w.writer, w.reader)
		w.release(w.write)
		if err := read.Err(); err != nil {
			t.Fatalf("the reader has gone with the writer: %v", err)
		}
		w.downgraded(read)
		w.release(read)
	})
}

// The reader may go first: then it was a read within a write.
func TestReadWithinWrite(t *testing.T) {
	onDowngrade(t, suite.InVirtualTime, func(t *testing.T, w *writing) {
		read := w.acquireFrom(w.write.Context(), w.rw.ReadLock())
		w.release(read)
		w.wantNodes(3)
		w.waiting(w.writer, w.reader)
		suite.OK(t, w.write.Verify(t.Context()))
		w.release(w.write)
	})
}

// What nobody holds, or another kind or client does, cannot be downgraded.
func TestDowngradeOfOtherLeases(t *testing.T) {
	onDowngrade(t, suite.InVirtualTime, func(t *testing.T, w *writing) {
		other := w.otherRW()
		read := w.acquireFrom(w.write.Context(), w.rw.ReadLock())
		for _, lease := range []*locks.Lease{nil, new(locks.Lease), read} {
			suite.Got(w.rw.Downgrade(t.Context(), lease)).Fails(t, framework.ErrInvalidOption)
		}
		suite.Got(other.Downgrade(t.Context(), w.write)).Fails(t, framework.ErrInvalidOption)
		var none context.Context
		suite.Got(w.rw.Downgrade(none, w.write)).Fails(t, framework.ErrInvalidOption)
		w.waiting(w.writer, w.reader)
		w.release(read)
		w.release(w.write)
		suite.Got(w.rw.Downgrade(t.Context(), w.write)).Fails(t, locks.ErrReleased)
	})
}

// A reply is lost on the way, of the reader's create or of the writer's delete.
func TestDowngradeCut(t *testing.T) {
	for name, op := range map[string]jute.Op{"create": jute.OpCreate2, "delete": jute.OpDelete} {
		for when, fate := range map[string]suite.Fate{"before": suite.CutBefore, "after": suite.CutAfter} {
			t.Run(name+" "+when, func(t *testing.T) {
				onDowngrade(t, withRealServer, func(t *testing.T, w *writing) {
					hit := w.network.On(op, fate, nil)
					read, err := w.rw.Downgrade(t.Context(), w.write)
					<-hit
					if err != nil {
						t.Fatal(err)
					}
					w.downgraded(read)
					w.release(read)
				})
			})
		}
	}
}

// The session ends in the middle: the write lease is lost, and nobody reads.
func TestDowngradeExpired(t *testing.T) {
	onDowngrade(t, withRealServer, func(t *testing.T, w *writing) {
		hit := w.network.On(jute.OpCreate2, suite.CutAfter, func() { w.network.Expire(t) })
		_, err := w.rw.Downgrade(t.Context(), w.write)
		<-hit
		suite.WantErr(t, err, locks.ErrLockLost)
		suite.WantErr(t, w.write.Release(t.Context()), locks.ErrLockLost)
	})
}

// Somebody deletes the writer's node just before the reader's is made: the next writer may
// be in already. Only the list of the queue tells of it: the writer's node is not watched yet.
func TestDowngradeWithoutTheWriter(t *testing.T) {
	onDowngrade(t, withRealServer, func(t *testing.T, w *writing) {
		w.wantNoDowngrade(suite.Late)
		if reads := w.network.Requests(jute.OpGetData); w.b.Virtual && reads > 0 {
			t.Errorf("%d reads have watched the writer's node: they may have told of its end", reads)
		}
	})
}

// The same with a new connection, and with time for the writer's node to be watched.
func TestDowngradeWithoutTheWriterCut(t *testing.T) {
	onDowngrade(t, suite.InVirtualTime, func(t *testing.T, w *writing) { w.wantNoDowngrade(suite.CutBefore) })
}

// wantNoDowngrade has the writer's node be deleted before the create of the reader's meets its fate.
func (w *writing) wantNoDowngrade(fate suite.Fate) {
	w.t.Helper()
	hit := w.network.On(jute.OpCreate2, fate, func() { w.deleteMeanwhile(w.write.Path()) })
	_, err := w.rw.Downgrade(w.t.Context(), w.write)
	<-hit
	suite.WantErr(w.t, err, locks.ErrLockLost)
	w.lost(w.write, locks.LossNodeDeleted)
	suite.WantErr(w.t, w.write.Release(w.t.Context()), locks.ErrLockLost)
}

// The caller gives up: the write lease is held as before, and no reader's node is left.
func TestDowngradeCancelled(t *testing.T) {
	onDowngrade(t, suite.InVirtualTime, func(t *testing.T, w *writing) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hit := w.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		_, err := w.rw.Downgrade(ctx, w.write)
		<-hit
		suite.WantErr(t, err, context.Canceled)
		w.untilNodes(3)
		_, err = w.rw.Downgrade(ctx, w.write) // with a context that has ended
		suite.WantErr(t, err, context.Canceled)
		w.wantNodes(3)
		if err := w.write.Err(); err != nil {
			t.Errorf("the write lease is lost: %v", err)
		}
		w.waiting(w.writer, w.reader)
		w.release(w.write)
	})
}

// Nothing reaches the server: the downgrade ends with the write lease, and does not go on in the next session.
func TestDowngradeEndsWithTheWriteLease(t *testing.T) {
	onDowngrade(t, suite.InVirtualTime, func(t *testing.T, w *writing) {
		heal := w.network.Isolate()
		ctx := bounded(t, time.Minute)
		_, err := w.rw.Downgrade(ctx, w.write)
		creates := w.network.Requests(jute.OpCreate2)
		heal()
		suite.WantErr(t, err, locks.ErrLockLost)
		suite.WantErr(t, w.write.Release(t.Context()), locks.ErrLockLost)
		w.release(w.granted(w.writer))
		w.writer = w.queue(t.Context(), w.otherRW().WriteLock(), 2) // behind the reader, who is in
		if n := w.network.Requests(jute.OpCreate2) - creates; n != 0 {
			t.Errorf("%d creates were sent after the loss", n)
		}
		w.release(w.granted(w.reader))
		w.reader = w.queue(t.Context(), w.otherRW().ReadLock(), 2)
	})
}

func TestDowngradeClosed(t *testing.T) {
	onDowngrade(t, suite.InVirtualTime, func(t *testing.T, w *writing) {
		heal := w.network.Isolate()
		defer heal()
		done := make(chan error)
		go func() {
			_, err := w.rw.Downgrade(t.Context(), w.write)
			done <- err
		}()
		ctx := bounded(t, 100*time.Millisecond)
		suite.WantErr(t, w.client.Close(ctx), framework.ErrConnectionLoss)
		if err := <-done; err == nil {
			t.Error("a closed client has let a reader in")
		}
		w.lost(w.write, locks.LossClosed)
		suite.WantErr(t, w.write.Release(t.Context()), locks.ErrLockLost)
	})
}

// A write lease that a reader was made from does not mark its release, and its going is not
// counted: the writer behind waits for the reader.
func TestDowngradeKeepsWritersOut(t *testing.T) {
	for name, waited := range map[string]bool{"holder that had waited": true, "holder that had not": false} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			writeLock := opened(t, openWrite)
			holder, waiter := enqueue(t, s, writeLock), enqueue(t, s, writeLock)
			if waited {
				first := holder
				holder, waiter = waiter, enqueue(t, s, writeLock)
				first.release()
			}
			if !holder.in() {
				t.Fatal("the holder is not let in")
			}
			read := suite.Got(openRW(t, holder.client).Downgrade(t.Context(), holder.lease)).OK(t)
			if waiter.in() {
				t.Fatal("a writer is let in beside a reader")
			}
			giveBack(t, read)
			waiter.release()
		})
	}
}

// A writer that waits for one writer is not let in by the end of that node alone: a reader may
// have taken its place.
func TestNextBehindADowngrade(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder := openRW(t, s.Client(t))
		write := suite.Got(holder.WriteLock().Acquire(t.Context())).OK(t)
		waiter := enqueue(t, s, opened(t, openWrite))
		read := suite.Got(holder.Downgrade(t.Context(), write)).OK(t)
		time.Sleep(time.Second)
		if waiter.in() {
			t.Error("a writer is in beside a reader")
		}
		giveBack(t, read)
		time.Sleep(time.Second)
		waiter.release()
	})
}
