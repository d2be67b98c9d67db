package interop_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/queue"
)

// queueKinds are the kinds of queues, with the marks of items in the order in which they come: ids,
// priorities, or times before now in milliseconds.
var queueKinds = map[string][]string{
	"queue":    {"-", "-", "-", "-"},
	"id":       {"b", "a/1", "a|1", "b"},
	"priority": {"-2147483648", "-1", "0", "255"},
	"delay":    {"-4000", "-3000", "-2000", "-1000"},
}

// sharedQueue is a queue that both languages use.
type sharedQueue struct {
	*env
	kind  string
	locks string // "" for at most once
	java  string // the name of the Java client
	start time.Time
}

func newSharedQueue(t *testing.T, kind string, locked bool) *sharedQueue {
	t.Helper()
	q := &sharedQueue{env: newEnv(t), kind: kind, start: time.Now()}
	q.path = q.b.Path("queue")
	if locked {
		q.locks = q.b.Path("queue-locks")
	}
	q.java = q.newJava(q.jvm).name
	return q
}

// ask has the Java client do something with the queue.
func (q *sharedQueue) ask(command string, words ...any) *answer {
	return q.jvm.request(q.java, append([]any{command, q.path}, words...)...)
}

func (q *sharedQueue) javaLocks() string { return cmp.Or(q.locks, "-") }

// mark returns a mark as Java's put takes it: a time is that of the test's start and the mark.
func (q *sharedQueue) mark(mark string) string {
	if q.kind != "delay" {
		return mark
	}
	ms, err := strconv.ParseInt(mark, 10, 64)
	if err != nil {
		q.t.Fatal(err)
	}
	return strconv.FormatInt(q.start.UnixMilli()+ms, 10)
}

// put has a client of a language put items into one node.
func (q *sharedQueue) put(language rune, mark string, items ...string) {
	q.t.Helper()
	if language == 'J' {
		q.wait(q.ask("queuePut", q.kind, q.javaLocks(), q.mark(mark), strings.Join(items, ",")))
		return
	}
	if err := q.goQueue(q.observer).put(q.mark(mark), items); err != nil {
		q.t.Fatal(err)
	}
}

// message is what Go's consumers are called with.
type message = queue.Message[string]

// goQueue is the queue in Go.
type goQueue struct {
	put     func(mark string, items []string) error
	consume func(ctx context.Context, fn func(ctx context.Context, m message) error) error
	remove  func(ctx context.Context, id string) (int, error)
}

func (q *sharedQueue) goQueue(client *framework.Client) goQueue {
	q.t.Helper()
	var opts []queue.Option
	if q.locks != "" {
		opts = append(opts, queue.WithLockPath(q.locks))
	}
	ctx, text := q.t.Context(), codec.String()
	var result goQueue
	var err error
	switch q.kind {
	case "queue":
		var d *queue.DistributedQueue[string]
		d, err = queue.NewDistributedQueue(client, q.path, text, opts...)
		result.put = func(_ string, items []string) error { return d.Put(ctx, items...) }
		result.consume = d.Consume
	case "id":
		var d *queue.DistributedIDQueue[string]
		d, err = queue.NewDistributedIDQueue(client, q.path, text, opts...)
		result.put = func(id string, items []string) error { return d.Put(ctx, id, items...) }
		result.consume, result.remove = d.Consume, d.Remove
	case "priority":
		var d *queue.DistributedPriorityQueue[string]
		d, err = queue.NewDistributedPriorityQueue(client, q.path, text, opts...)
		result.put = func(mark string, items []string) error {
			priority, err := strconv.ParseInt(mark, 10, 32)
			return errors.Join(err, d.Put(ctx, int32(priority), items...))
		}
		result.consume = d.Consume
	case "delay":
		var d *queue.DistributedDelayQueue[string]
		d, err = queue.NewDistributedDelayQueue(client, q.path, text, opts...)
		result.put = func(mark string, items []string) error {
			ms, err := strconv.ParseInt(mark, 10, 64)
			return errors.Join(err, d.Put(ctx, time.UnixMilli(ms), items...))
		}
		result.consume = d.Consume
	}
	if err != nil {
		q.t.Fatal(err)
	}
	return result
}

// taker is a consumer of either language.
type taker struct {
	await func(n int) []string // waits until so many items were handed over
	stop  func()
}

// taker starts a consumer. The function of the item fail fails once. That of the item hold does not return before the
// consumer's end, unless it fails.
func (q *sharedQueue) taker(language rune, fail, hold string) *taker {
	q.t.Helper()
	if language != 'J' {
		return q.goTaker(q.longClient(), fail, hold)
	}
	q.wait(q.ask("queueConsume", q.kind, q.javaLocks(), cmp.Or(fail, "-"), cmp.Or(hold, "-")))
	return &taker{
		await: func(n int) []string { q.t.Helper(); return strings.Split(q.wait(q.ask("queueTaken", n)), ",") },
		stop:  func() { q.wait(q.ask("queueStop")) },
	}
}

func (q *sharedQueue) goTaker(client *framework.Client, fail, hold string) *taker {
	fail, hold = cmp.Or(fail, "-"), cmp.Or(hold, "-") // an item may be empty
	var mu sync.Mutex
	var taken []string
	ctx, cancel := context.WithCancel(q.t.Context())
	ended := make(chan error, 1)
	consume := q.goQueue(client).consume
	go func() {
		ended <- consume(ctx, func(ctx context.Context, m message) error {
			mu.Lock()
			fails := m.Item == fail && !slices.Contains(taken, m.Item)
			taken = append(taken, m.Item)
			mu.Unlock()
			switch {
			case fails:
				return errors.New("once")
			case m.Item == hold:
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		})
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			q.t.Errorf("Consume: %v", err)
		}
	})
	q.t.Cleanup(stop)
	return &taker{
		await: func(n int) (items []string) {
			q.t.Helper()
			suite.Eventually(q.t, fmt.Sprintf("%d items for Go", n), func() bool {
				mu.Lock()
				defer mu.Unlock()
				items = slices.Clone(taken)
				return len(items) >= n
			})
			return items
		},
		stop: stop,
	}
}

// names returns the names of the queue's nodes, in order.
func (q *sharedQueue) names() []string {
	q.t.Helper()
	names, err := q.observer.GetChildren().ForPath(q.t.Context(), q.path)
	if err != nil {
		q.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// drained waits until the queue is empty.
func (q *sharedQueue) drained() {
	q.t.Helper()
	suite.Eventually(q.t, "an empty queue", func() bool { return len(q.names()) == 0 })
}

// eachQueue runs a test for all kinds of queues, with and without a lock path.
func eachQueue(t *testing.T, test func(q *sharedQueue)) {
	for kind := range queueKinds {
		for _, locked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, locks %v", kind, locked), func(t *testing.T) {
				t.Parallel()
				test(newSharedQueue(t, kind, locked))
			})
		}
	}
}

// What one language puts the other consumes, in the same order, no matter which of them put which item.
func TestQueuePairings(t *testing.T) {
	t.Parallel()
	eachQueue(t, func(q *sharedQueue) {
		for _, consumer := range "JG" {
			for i, producers := range []string{"JJJJ", "GGGG", "JGJG", "GJGJ"} {
				var want []string
				marks := queueKinds[q.kind]
				q.start = time.Now()
				order := []int{0, 1, 2, 3}
				if q.kind == "priority" || q.kind == "delay" {
					order = []int{2, 0, 3, 1} // of the puts
				}
				for n := range marks {
					items := []string{fmt.Sprintf("%d-%d", i, n)}
					if n == 2 && q.kind != "id" { // Java's queue with ids takes one item at a time
						items = append(items, "", "long-"+strings.Repeat("x", 300))
					}
					want = append(want, items...)
				}
				for _, n := range order {
					items := want[n : n+1]
					switch {
					case len(want) > 4 && n == 2:
						items = want[2:5]
					case len(want) > 4 && n == 3:
						items = want[5:]
					}
					q.put(rune(producers[n]), marks[n], items...)
				}
				c := q.taker(consumer, "", "")
				if got := c.await(len(want)); !slices.Equal(got, want) {
					q.t.Errorf("%c got from %s %q, want %q", consumer, producers, got, want)
				}
				q.drained()
				c.stop()
			}
		}
	})
}

// Both languages put the same names and the same bytes.
func TestQueueNodes(t *testing.T) {
	t.Parallel()
	for kind, marks := range queueKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			q := newSharedQueue(t, kind, false)
			for _, mark := range marks {
				items := []string{"x", "", "yz"}
				if kind == "id" {
					items = items[:1]
				}
				var nodes []string
				for _, language := range "JG" {
					q.put(language, mark, items...)
					names := q.names()
					if len(names) != 1 {
						t.Fatalf("nodes %q", names)
					}
					data, err := q.observer.GetData().ForPath(t.Context(), q.path+"/"+names[0])
					if err != nil {
						t.Fatal(err)
					}
					nodes = append(nodes, fmt.Sprintf("%s %x", names[0][:len(names[0])-10], data))
					if err := q.observer.Delete().ForPath(t.Context(), q.path+"/"+names[0]); err != nil {
						t.Fatal(err)
					}
				}
				if nodes[0] != nodes[1] {
					t.Errorf("Java has written %s, Go %s", nodes[0], nodes[1])
				}
			}
		})
	}
}

// Consumers of both languages at once get every item, and no item twice.
func TestQueueMixedConsumers(t *testing.T) {
	t.Parallel()
	for _, locked := range []bool{false, true} {
		t.Run(fmt.Sprint("locks ", locked), func(t *testing.T) {
			t.Parallel()
			q := newSharedQueue(t, "queue", locked)
			takers := []*taker{q.taker('J', "", ""), q.taker('G', "", ""), q.taker('G', "", "")}
			var want []string
			for i := range 60 {
				want = append(want, fmt.Sprintf("%02d", i))
				q.put(rune("JG"[i%2]), "-", want[i])
			}
			q.drained()
			for _, c := range takers[1:] {
				c.stop()
			}
			var got []string
			suite.Eventually(t, "all items", func() bool {
				got = slices.DeleteFunc(slices.Concat(takers[0].await(0), takers[1].await(0), takers[2].await(0)), func(item string) bool { return item == "" })
				return len(got) >= len(want)
			})
			takers[0].stop()
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("handed over %q", got)
			}
		})
	}
}

// An item that Go has put back, and holds, is consumed by Java when Go's consumer ends. It has the
// priority, the id or the time that it had.
func TestQueuePutBackByGo(t *testing.T) {
	t.Parallel()
	for kind, marks := range queueKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			q := newSharedQueue(t, kind, true)
			q.put('J', marks[1], "x")
			before := q.names()[0]
			failing := q.goTaker(q.longClient(), "x", "x")
			failing.await(2)
			names := q.names()
			if len(names) != 1 || names[0] == before || len(names[0]) != len(before) || names[0][:len(before)-10] != before[:len(before)-10] {
				t.Errorf("%s was put back as %q", before, names)
			}
			failing.stop()
			taker := q.taker('J', "", "")
			if got := taker.await(1); !slices.Equal(got, []string{"x"}) {
				t.Errorf("Java got %q", got)
			}
			q.drained()
			taker.stop()
		})
	}
}

// An item that Java has put back, and holds when its process is killed, is consumed by Go as soon
// as the session is over.
func TestQueuePutBackByJava(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"id": "queue-|a_1|", "priority": "queue-"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			q := newSharedQueue(t, kind, true)
			q.put('G', queueKinds[kind][1], "x")
			q.jvm = q.ownJVM()
			failing := q.taker('J', "x", "x")
			failing.await(2)
			if names := q.names(); len(names) != 1 || names[0][:len(names[0])-10] != want {
				t.Errorf("put back as %q, want %s", names, want)
			}
			taker := q.taker('G', "", "")
			paused := q.measurePauses()
			start := time.Now()
			q.jvm.kill()
			if got := taker.await(1); !slices.Equal(got, []string{"x"}) {
				t.Errorf("Go got %q", got)
			}
			if took, limit := time.Since(start), handOverLimit+paused(); took > limit {
				t.Errorf("Go got the item after %v, want at most %v", took, limit)
			}
			q.drained()
		})
	}
}

// A Go consumer that is cut off loses its item to Java, whose consumer looks again with the next
// put. Go's transaction is refused.
func TestQueueIsolatedGoConsumer(t *testing.T) {
	t.Parallel()
	q := newSharedQueue(t, "queue", true)
	client, network := q.b.Client(t)
	cutOff := q.goTaker(client, "", "x")
	q.put('J', "-", "x")
	cutOff.await(1)
	taker := q.taker('J', "", "")
	heal := network.Isolate()
	suite.Eventually(t, "the end of the session", func() bool {
		locks, err := q.observer.GetChildren().ForPath(t.Context(), q.locks)
		return err == nil && len(locks) == 0
	})
	q.put('G', "-", "y")
	if got := taker.await(2); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("Java got %q", got)
	}
	q.drained()
	heal()
	cutOff.stop()
	if left := cutOff.await(1); len(left) != 1 {
		t.Errorf("Go got %q", left)
	}
	taker.stop()
}

// What one language has put the other removes by its id, but for what is being consumed.
func TestQueueRemove(t *testing.T) {
	t.Parallel()
	for _, locked := range []bool{false, true} {
		t.Run(fmt.Sprint("locks ", locked), func(t *testing.T) {
			t.Parallel()
			q := newSharedQueue(t, "id", locked)
			remove := map[rune]func(id string) int{
				'G': func(id string) int {
					n, err := q.goQueue(q.observer).remove(t.Context(), id)
					if err != nil {
						t.Error(err)
					}
					return n
				},
				'J': func(id string) int {
					n, err := strconv.Atoi(q.wait(q.ask("queueRemove", q.javaLocks(), id)))
					if err != nil {
						t.Error(err)
					}
					return n
				},
			}
			for language, other := range map[rune]rune{'J': 'G', 'G': 'J'} {
				q.put(language, "a/1", "x")
				q.put(language, "a|1", "y")
				q.put(language, "b", "z")
				if n := remove[other]("a_1"); n != 2 {
					t.Errorf("%c has removed %d items of %c, want 2", other, n, language)
				}
				if !locked {
					remove[other]("b")
					continue
				}
				c := q.taker(language, "", "z")
				c.await(1)
				if n := remove[other]("b"); n != 0 {
					t.Errorf("%c has removed an item that %c consumes", other, language)
				}
				if language == 'G' {
					c.stop()
					q.observer.Delete().ForPath(t.Context(), q.path+"/"+q.names()[0]) // an error shows below
				}
			}
		})
	}
}

// The simple queue, in both directions.
func TestSimpleQueue(t *testing.T) {
	t.Parallel()
	q := newSharedQueue(t, "queue", false)
	simple, err := queue.NewSimpleDistributedQueue(q.observer, q.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"a", "c"} {
		q.wait(q.ask("queueOffer", data))
		if err := simple.Offer(t.Context(), []byte(data+data)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"a", "aa"} {
		if data, err := simple.Take(t.Context()); err != nil || string(data) != want {
			t.Errorf("Go has taken %q, %v; want %q", data, err, want)
		}
	}
	for _, want := range []string{"c", "cc", ""} {
		if data := q.wait(q.ask("queuePoll", 50)); data != want {
			t.Errorf("Java has taken %q, want %q", data, want)
		}
	}
	taken := q.ask("queuePoll", 20_000)
	if err := simple.Offer(t.Context(), []byte("late")); err != nil {
		t.Fatal(err)
	}
	if data := q.wait(taken); data != "late" {
		t.Errorf("Java has taken %q", data)
	}
}
