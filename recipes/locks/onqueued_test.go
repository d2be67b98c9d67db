package locks_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// places are what a function of WithOnQueued was told.
type places struct {
	mu   sync.Mutex
	told []string
	then func() // called by the function; nil for nothing
}

func (p *places) option() locks.Option {
	return locks.WithOnQueued(func(place, of int) {
		p.mu.Lock()
		p.told = append(p.told, fmt.Sprintf("%d/%d", place, of))
		then := p.then
		p.mu.Unlock()
		if then != nil {
			then()
		}
	})
}

// want fails unless these places were told since the last want, when nothing moves any more.
func (p *places) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.told, want) {
		t.Errorf("told %v, want %v", p.told, want)
	}
	p.told = nil
}

// onQueue runs test with contenders of a mutex: the first one holds it.
func onQueue(t *testing.T, n int, test func(t *testing.T, s *curatortest.Server, q []*queued)) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var q []*queued
		for range n {
			q = append(q, enqueue(t, s, virtualMutex(t)))
		}
		test(t, s, q)
	})
}

// The place is told when the node is in the queue, and when a list shows another one, and never by requests.
func TestOnQueued(t *testing.T) {
	onQueue(t, 4, func(t *testing.T, s *curatortest.Server, q []*queued) {
		var told, free places
		w := enqueue(t, s, virtualMutex(t, told.option()))
		told.want(t, "5/5")
		behind := enqueue(t, s, virtualMutex(t))
		if requests := w.joined; requests != behind.joined {
			t.Errorf("%q with the option, %q without it", requests, behind.joined)
		}
		told.want(t) // that of changes, the place stays
		q[1].cancel()
		<-q[1].done
		told.want(t) // nothing that is watched has changed
		_, err := mutexOf(t, w.client, free.option()).TryAcquire(t.Context())
		wantAhead(t, err, 5)
		free.want(t)
		q[3].cancel()
		<-q[3].done
		told.want(t, "3/4")
		s.DisconnectSession(w.client.SessionID())
		time.Sleep(time.Second)
		told.want(t)
		q[0].release()
		told.want(t)
		q[2].release()
		w.release()
		behind.release()
		told.want(t) // a grant is none
		giveBack(t, take(t, mutexOf(t, w.client, free.option())))
		free.want(t)
	})
}

// A node that was lost is made again at the end of the queue.
func TestOnQueuedAgain(t *testing.T) {
	for name, lose := range map[string]func(s *curatortest.Server, w *queued) error{
		"deleted": func(s *curatortest.Server, w *queued) error {
			return s.Client(w.t).Delete().ForPath(w.t.Context(), lastChild(s))
		},
		"expired": func(s *curatortest.Server, w *queued) error {
			s.ExpireSession(w.client.SessionID())
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			onQueue(t, 1, func(t *testing.T, s *curatortest.Server, q []*queued) {
				var told places
				w := enqueue(t, s, virtualMutex(t, told.option()))
				told.want(t, "2/2")
				suite.OK(t, lose(s, w))
				time.Sleep(5 * time.Second)
				told.want(t) // it is the same place
				deleted := lastChild(s)
				behind := enqueue(t, s, virtualMutex(t))
				suite.OK(t, s.Client(t).Delete().ForPath(t.Context(), deleted))
				told.want(t, "3/3")
				for _, c := range []*queued{q[0], behind, w} {
					c.release()
				}
				told.want(t)
			})
		})
	}
}

// lastChild returns the path of the contender at the end of the queue.
func lastChild(s *curatortest.Server) string {
	names := s.Children("/lock")
	return "/lock/" + slices.MaxFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
}

// What the place of each kind counts.
func TestOnQueuedKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		others []opener // in this order
		lock   opener
		told   []string // when it waits
		then   []string // while the others release, the first one first
		ahead  int      // of a TryAcquire in its place
	}{
		"mutex":             {[]opener{openMutex, openMutex}, openMutex, []string{"3/3"}, nil, 2},
		"semaphore":         {[]opener{openSemaphore(2), openSemaphore(2), openSemaphore(2)}, openSemaphore(2), []string{"4/4"}, nil, 3},
		"two of three":      {[]opener{openSemaphore(3), openSemaphore(3)}, openTwo(openSemaphore(3)), []string{"3/4"}, nil, -1},
		"V2":                {[]opener{openV2(2), openV2(2), openV2(2)}, openV2(2), []string{"2/2"}, []string{"1/1"}, 1},
		"V2, next":          {[]opener{openV2(2), openV2(2)}, openV2(2), []string{"1/1"}, nil, 2},
		"semaphore mutex":   {[]opener{openSemaphoreMutex, openSemaphoreMutex}, openSemaphoreMutex, []string{"2/2"}, []string{"1/1"}, 1},
		"reader":            {[]opener{openRead, openRead, openWrite}, openRead, []string{"4/4"}, nil, 3},
		"writer":            {[]opener{openRead, openRead}, openWrite, []string{"3/3"}, nil, 2},
		"several, the last": {[]opener{openMutex}, lastOfTwo(openMutex), []string{"2/2"}, nil, 1},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			var others []*queued
			for _, kind := range tt.others {
				others = append(others, enqueue(t, s, opened(t, kind)))
			}
			if tt.ahead >= 0 {
				_, err := tt.lock(t, s.Client(t)).TryAcquire(t.Context())
				wantAhead(t, err, tt.ahead)
			}
			var told places
			w := enqueue(t, s, opened(t, tt.lock, told.option()))
			told.want(t, tt.told...)
			for _, q := range others {
				q.release()
			}
			told.want(t, tt.then...)
			w.release()
		})
	}
}

// lastOfTwo is a lock of two: the second one is at a path of its own, and free.
func lastOfTwo(of opener) opener {
	return func(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		return multiOf(t, mutexAtPath(t, c, "/free"), of(t, c, opts...))
	}
}

// With a lock delay the first one waits, too. With the plain protocol it learns from a list that it is first.
func TestOnQueuedLockDelay(t *testing.T) {
	for name, opts := range map[string][]locks.MutexOption{"by the event": nil, "by a list": {locks.WithPlainProtocol()}} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			delay := locks.WithLockDelay(time.Minute)
			holder := enqueue(t, s, virtualMutex(t, delay))
			var told places
			w := enqueue(t, s, virtualMutex(t, append(opts, delay, told.option())...))
			told.want(t, "2/2")
			s.ExpireSession(holder.client.SessionID())
			time.Sleep(5 * time.Second)
			told.want(t, "1/1")
			_, err := mutexOf(t, s.Client(t), delay).TryAcquire(t.Context())
			wantAhead(t, err, 1)
			time.Sleep(time.Minute)
			w.release()
			told.want(t)
			_ = holder.lease.Release(t.Context()) // it was lost
		})
	}
}

// Goroutines of one client that hand the lock over are not in the queue.
func TestOnQueuedLocalHandover(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		var told places
		handover := locks.WithLocalHandover(3)
		client := s.Client(t)
		mutex := mutexOf(t, client, handover, told.option())
		lease := take(t, mutex)
		done := taking(t, mutex)
		told.want(t)
		_, err := mutex.TryAcquire(t.Context())
		wantAhead(t, err, 0)
		nested := suite.Got(mutex.Acquire(lease.Context())).OK(t)
		_, err = mutex.TryAcquire(lease.Context())
		wantAhead(t, err, 0)
		giveBack(t, nested)
		giveBack(t, lease)
		giveBack(t, <-done)
		told.want(t)
	})
}

// A slow function delays nothing. It is told the newest place next, and nothing behind the end of the acquisition.
func TestOnQueuedSlow(t *testing.T) {
	for _, granted := range []bool{true, false} {
		t.Run(fmt.Sprintf("granted %t", granted), func(t *testing.T) {
			onQueue(t, 5, func(t *testing.T, s *curatortest.Server, q []*queued) {
				var told places
				block := make(chan struct{})
				told.then = func() { <-block }
				w := enqueue(t, s, virtualMutex(t, told.option()))
				told.want(t, "6/6")
				for _, i := range []int{4, 3, 2} {
					q[i].cancel()
					<-q[i].done
					synctest.Wait()
				}
				told.want(t) // the first call has not returned
				if !granted {
					close(block)
					told.want(t, "3/3")
					w.cancel()
					<-w.done
					q[0].release()
					q[1].release()
					return
				}
				q[0].release()
				q[1].release()
				w.release()
				close(block)
				told.want(t)
			})
		})
	}
}

// A function that ends its goroutine, as t.FailNow does, is called again.
func TestOnQueuedGoexit(t *testing.T) {
	onQueue(t, 3, func(t *testing.T, s *curatortest.Server, q []*queued) {
		told := places{then: runtime.Goexit}
		w := enqueue(t, s, virtualMutex(t, told.option()))
		told.want(t, "4/4")
		q[2].cancel()
		<-q[2].done
		told.want(t, "3/3")
		for _, c := range []*queued{q[0], q[1], w} {
			c.release()
		}
	})
}

// The function may use the lock and the client, and end the wait. Close of the client waits for it.
func TestOnQueuedUsesTheLock(t *testing.T) {
	onQueue(t, 1, func(t *testing.T, s *curatortest.Server, q []*queued) {
		var told places
		client := s.Client(t)
		mutex := mutexOf(t, client, told.option())
		ctx, cancel := context.WithCancel(t.Context())
		var returned atomic.Bool
		told.then = func() {
			if nodes, err := mutex.ParticipantNodes(t.Context()); err != nil || len(nodes) != 2 {
				t.Errorf("%v, %v", nodes, err)
			}
			cancel()
			time.Sleep(100 * time.Millisecond) // less than Close waits
			returned.Store(true)
		}
		_, err := mutex.Acquire(ctx)
		wantAhead(t, err, 1)
		if returned.Load() {
			t.Error("Acquire has waited for the function")
		}
		if err := client.Close(t.Context()); err != nil || !returned.Load() {
			t.Errorf("closed: %v, the function has returned: %t", err, returned.Load())
		}
		told.want(t, "2/2")
		q[0].release()
	})
}
