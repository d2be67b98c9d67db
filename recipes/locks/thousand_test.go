package locks_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

// As apache/curator#1231, where a release wakes every thread of the process that waits for the lock, and each reads a
// node: a thousand goroutines of one client want a lock. They get it in their order, as soon as it is released, and
// whether one of them releases the lock or gives up, the requests are the same as if there were three.
func TestThousandGoroutines(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		few, fewGivesUp := handovers(t, s, 5)
		many, manyGivesUp := handovers(t, s, 1000)
		if few != many || fewGivesUp != manyGivesUp || many == "" || manyGivesUp == "" {
			t.Errorf("a hand-over is %q of five, and %q of a thousand; who gives up sends %q, and %q", few, many, fewGivesUp, manyGivesUp)
		}
	})
}

// handovers has n goroutines of a new client take the lock, each for a moment, and every fifth give up. It returns
// the requests of a hand-over, and those of one that gives up.
func handovers(t *testing.T, s *curatortest.Server, n int) (handover, givesUp string) {
	t.Helper()
	const moment = 10 * time.Millisecond // the waiters ahead do not read who holds the lock
	same := func(seen *string, i int, what string, sent string) {
		sent, _, _ = strings.Cut(sent, " writes=") // which requests go out together is a matter of chance
		if *seen == "" {
			*seen = sent
		}
		if *seen != sent {
			t.Fatalf("%s of goroutine %d of %d is %q, before it was %q", what, i, n, sent, *seen)
		}
	}
	c := startGoroutines(t, s)
	synctest.Wait()
	for range n {
		c.join()
	}
	c.traffic.Take()
	for i := 3; i < n; i += 5 {
		c.members[i].cancel()
		<-c.members[i].done
		synctest.Wait()
		same(&givesUp, i, "the end of the wait", c.traffic.Take())
	}
	for i, member := range c.members {
		if i%5 == 3 {
			continue
		}
		if !member.in() {
			t.Fatalf("goroutine %d of %d does not have the lock", i, n)
		}
		<-time.After(moment)
		c.traffic.Take()
		begin := time.Now()
		member.release()
		if took := time.Since(begin); took > 0 {
			t.Fatalf("the release of goroutine %d of %d took %v", i, n, took)
		}
		if i > 0 && i%5 != 2 && i < n-1 { // the first has not waited; the next one may have given up
			same(&handover, i, "the hand-over", c.traffic.Take())
		}
	}
	return handover, givesUp
}
