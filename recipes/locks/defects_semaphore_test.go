package locks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// requests sums up the requests of a text of traffic.take; writes and events are none.
func requests(traffic string) (n int) {
	for text := range strings.FieldsSeq(traffic) {
		name, count, _ := strings.Cut(text, "=")
		var times int
		if _, err := fmt.Sscan(count, &times); err == nil && name != "writes" && name != "events" {
			n += times
		}
	}
	return n
}

// javaSemaphores are those in Java's layout, with two leases but for the mutex.
var javaSemaphores = map[string]func(t *testing.T, c *framework.Client, opts ...locks.SemaphoreOption) locks.InterProcessLock{
	"semaphore": func(t *testing.T, c *framework.Client, opts ...locks.SemaphoreOption) locks.InterProcessLock {
		return javaSemaphore(t, c, opts)
	},
	"two of a semaphore": func(t *testing.T, c *framework.Client, opts ...locks.SemaphoreOption) locks.InterProcessLock {
		return several{javaSemaphore(t, c, opts), 2}
	},
	"mutex": func(t *testing.T, c *framework.Client, opts ...locks.SemaphoreOption) locks.InterProcessLock {
		return suite.Got(locks.NewInterProcessSemaphoreMutex(c, "/lock", opts...)).OK(t)
	},
}

func javaSemaphore(t *testing.T, c *framework.Client, opts []locks.SemaphoreOption) *locks.InterProcessSemaphoreV2 {
	t.Helper()
	return suite.Got(locks.NewInterProcessSemaphoreV2(c, "/lock", 2, opts...)).OK(t)
}

// A semaphore in Java's layout lets in with the plain protocol, too, be it free at once or after
// others have released it, and does not ask the server over and over.
func TestSemaphoreV2WithPlainProtocol(t *testing.T) {
	for name, open := range javaSemaphores {
		for _, busy := range []bool{false, true} {
			runVirtual(t, fmt.Sprintf("%s, busy: %t", name, busy), func(t *testing.T, s *curatortest.Server) {
				// Each request takes its time: else the requests of one who does not wait
				// would keep time from passing.
				s.Inject(curatortest.Rule{Do: curatortest.Delay(time.Millisecond), Times: 1 << 20})
				var others []*locks.Lease
				for busy && (len(others) == 0 || name == "semaphore" && len(others) < 2) {
					others = append(others, take(t, open(t, s.Client(t))))
				}
				client, traffic := suite.Tapped(t, s)
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				q := acquiring(ctx, open(t, client, locks.WithPlainProtocol()))
				time.Sleep(2 * time.Second)
				for _, lease := range others {
					giveBack(t, lease)
				}
				<-q.done
				if q.err != nil {
					t.Errorf("the semaphore is free, but: %v", q.err)
				}
				if n := requests(traffic.Take()); n > 50 {
					t.Errorf("%d requests for one acquisition", n)
				}
				giveBack(t, q.lease)
			})
		}
	}
}

// One lease of many is released: no more contenders than there are leases wake up for that, list
// the queue, and one of them is let in.
func TestSemaphoreHasNoHerd(t *testing.T) {
	t.Parallel() // beside tests that wait in real time
	const waiters = 12
	for _, maxLeases := range []int{1, 2, 5, 10} {
		runVirtual(t, fmt.Sprint(maxLeases), func(t *testing.T, s *curatortest.Server) {
			var queue []*queued
			for range maxLeases + waiters {
				queue = append(queue, enqueue(t, s, func(c *framework.Client) locks.InterProcessLock {
					return suite.Got(locks.NewInterProcessSemaphore(c, "/lock", maxLeases)).OK(t)
				}))
			}
			most := 0
			for i := range waiters {
				if last := i + maxLeases - 1; i%2 == 1 { // the last of those who hold, not the first
					queue[i], queue[last] = queue[last], queue[i]
				}
				queue[i].release()
				time.Sleep(time.Second)
				lists, woken := listed(queue)
				most = max(most, lists)
				if woken > maxLeases || lists > maxLeases {
					t.Errorf("release %d of a semaphore with %d leases: %d of the others woke up and made %d lists", i, maxLeases, woken, lists)
				}
				if !queue[i+maxLeases].in() {
					t.Fatalf("release %d: the next one is not in", i)
				}
			}
			t.Logf("%d leases: at most %d lists for one release", maxLeases, most)
			for _, q := range queue[waiters:] {
				q.release()
			}
			synctest.Wait()
			wantNothingLeft(t, s)
		})
	}
}

// listed counts the lists that all made since the last call, and who made any.
func listed(queue []*queued) (lists, woken int) {
	for _, q := range queue {
		for text := range strings.FieldsSeq(q.traffic.Take()) {
			var n int
			if _, err := fmt.Sscanf(text, "getChildren2=%d", &n); err == nil {
				lists += n
				woken++
			}
		}
	}
	return lists, woken
}
