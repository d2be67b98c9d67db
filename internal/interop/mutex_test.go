package interop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
)

// Holders and waiters of both languages form one queue, served in the order in which
// their nodes were created. Each waiter watches the node ahead of its own and no other.
func TestQueue(t *testing.T) {
	t.Parallel()
	for name, languages := range map[string]string{
		"Java holds, Go waits": "JG",
		"Go holds, Java waits": "GJ",
		"six by turns":         "JGJGJG",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			var queue []contender
			var grants []*answer
			for i, language := range languages {
				c := e.newContender(language)
				queue = append(queue, c)
				if i == 0 {
					e.acquire(c)
					continue
				}
				grants = append(grants, e.queue(c))
			}
			order := e.nodes()
			for i, node := range order {
				watchers := slices.DeleteFunc(e.watchers(node), func(s int64) bool { return s == queue[i].session() })
				if i+1 < len(queue) && !slices.Equal(watchers, []int64{queue[i+1].session()}) {
					t.Fatalf("node %d is watched by %x", i, watchers)
				}
			}
			for i, grant := range grants {
				queue[i].release()
				if node := e.wait(grant); node != order[i+1] {
					t.Fatalf("let in %q, want %q", node, order[i+1])
				}
				e.wantNodes(order[i+1:]...)
				for _, later := range grants[i+1:] {
					e.notYet(later)
				}
			}
			queue[len(queue)-1].release()
			e.wantNodes()
		})
	}
}

// Everyone sees the same queue, be it as the holder or while waiting.
func TestParticipants(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	queue := []contender{e.newJava(e.jvm)}
	e.acquire(queue[0])
	var grants []*answer
	for _, language := range "GJG" {
		c := e.newContender(language)
		queue = append(queue, c)
		grants = append(grants, e.queue(c))
	}
	order := e.nodes()
	for i, c := range queue {
		if nodes := c.participants(); !slices.Equal(nodes, order) {
			t.Errorf("to contender %d the participants are %q, want %q", i, nodes, order)
		}
	}
	for i, c := range queue {
		if i > 0 {
			e.wait(grants[i-1])
		}
		c.release()
	}
	e.wantNodes()
	for i, c := range queue {
		if nodes := c.participants(); len(nodes) > 0 {
			t.Errorf("to contender %d the participants are %q, want none", i, nodes)
		}
	}
}

// A read and a write under the lock are one step, in both languages.
func TestExclusion(t *testing.T) {
	t.Parallel()
	const rounds = 25
	e := newEnv(t)
	counter := e.b.Path("counter")
	if _, err := e.observer.Create().CreatingParentsIfNeeded().WithData([]byte("0")).ForPath(t.Context(), counter); err != nil {
		t.Fatal(err)
	}
	var contenders []contender
	for _, language := range "JGJG" {
		contenders = append(contenders, e.newContender(language))
	}
	var answers []*answer
	for _, c := range contenders {
		answers = append(answers, c.increment(counter, rounds))
	}
	for _, a := range answers {
		e.wait(a)
	}
	data, err := e.observer.GetData().ForPath(t.Context(), counter)
	if err != nil || string(data) != "100" {
		t.Errorf("the counter is %q after 4 times %d rounds, %v", data, rounds, err)
	}
	e.wantNodes()
}

// Who does not want to wait, or not for long, is told that the lock is busy, and leaves
// nothing behind.
func TestTry(t *testing.T) {
	t.Parallel()
	for name, languages := range map[string][2]rune{
		"Java holds, Go tries": {'J', 'G'},
		"Go holds, Java tries": {'G', 'J'},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			holder, other := e.newContender(languages[0]), e.newContender(languages[1])
			node := e.acquire(holder)
			for _, wait := range []time.Duration{0, time.Second} {
				if got := other.try(wait); got != "" {
					t.Fatalf("%q was let in beside %q", got, node)
				}
				e.wantNodes(node)
			}
			holder.release()
			for _, wait := range []time.Duration{0, 10 * time.Second} {
				got := other.try(wait)
				e.wantNodes(got)
				if busy := holder.try(0); busy != "" {
					t.Fatalf("%q was let in beside %q", busy, got)
				}
				other.release()
			}
			e.wantNodes()
		})
	}
}

// A waiter that gives up does not let in the one behind it, who waits for the holder then.
func TestWaiterLeaves(t *testing.T) {
	t.Parallel()
	for _, languages := range []string{"JGJ", "GJG"} {
		t.Run(strings.Join(strings.Split(languages, ""), " "), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			var queue []contender
			for _, language := range languages {
				queue = append(queue, e.newContender(language))
			}
			holder, leaver, behind := queue[0], queue[1], queue[2]
			node := e.acquire(holder)
			left := e.queue(leaver)
			grant := e.queue(behind)
			last := e.nodes()[2]

			leaver.leave()
			<-left.done
			if left.err == nil {
				t.Fatalf("it has left and is let in: %q", left.text)
			}
			suite.Eventually(t, "a watch on the holder's node", func() bool {
				e.notYet(grant)
				return e.isWatched(node, behind)
			})
			e.wantNodes(node, last)
			holder.release()
			if got := e.wait(grant); got != last {
				t.Fatalf("let in %q, want %q", got, last)
			}
			behind.release()
			e.wantNodes()
		})
	}
}
