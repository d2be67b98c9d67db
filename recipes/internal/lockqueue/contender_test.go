package lockqueue_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
	"github.com/go-curator/curator/tools/curatortest"
)

// oneByOne are rules by which each contender waits for the one right ahead.
type oneByOne struct{}

func (oneByOne) Order(name string) string { return layout.Number(name, layout.LockMark) }
func (oneByOne) Check([]string) error     { return nil }
func (oneByOne) Marks(string) bool        { return false }
func (oneByOne) Decide(queue []string, own string) lockqueue.Decision {
	i := slices.Index(queue, own)
	if i <= 0 {
		return lockqueue.Decision{Admitted: i == 0}
	}
	return lockqueue.Decision{Behind: queue[i-1 : i], Next: i == 1}
}

// queue is a queue at /queue of a server of its own.
type queue struct {
	*testing.T
	server *curatortest.Server
	client *framework.Client
}

// inQueue runs a test in virtual time.
func inQueue(t *testing.T, fn func(q queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		fn(queue{t, server, server.Client(t)})
	})
}

// contender returns a contender, which ends with the test.
func (q queue) contender() *lockqueue.Contender {
	in := zkclient.Of(q.client)
	c := lockqueue.New(&lockqueue.Spec{
		Client: in, Owned: ephemeral.Config{Client: in, ErrorPolicy: q.client.ErrorPolicy()},
		Dir: "/queue", FullDir: "/queue", Name: layout.LockMark, Rules: oneByOne{}, CleanUp: time.Second,
		Node: zkclient.NodeSpec{Path: "/queue/" + layout.LockMark, Mode: zkclient.EphemeralSequential, Protection: true, Parents: zkclient.ContainerParents},
	})
	q.Cleanup(func() { c.End(q.Context()) })
	return c
}

// next is the next step of a contender, which must come without a pause that a waiter would make.
func (q queue) next(c *lockqueue.Contender) lockqueue.Step {
	q.Helper()
	steps := make(chan lockqueue.Step, 1)
	go func() {
		step, err := c.Next(q.Context())
		if err != nil {
			q.Error(err)
		}
		steps <- step
	}()
	time.Sleep(time.Second)
	synctest.Wait()
	select {
	case step := <-steps:
		return step
	default:
		q.Fatal("the contender waits, and says nothing")
		return lockqueue.Step{}
	}
}

// remove deletes a node as an operator does.
func (q queue) remove(path string) {
	q.Helper()
	if err := q.client.Delete().ForPath(q.Context(), path); err != nil {
		q.Fatal(err)
	}
}

// holder relies on a node.
type holder struct{ lost []zkclient.LossKind }

func (h *holder) Lost(l zkclient.Loss) { h.lost = append(h.lost, l.Kind) }
func (*holder) Read([]byte)            {}

// Each new list of the queue is a step: its user may show, or log, for whom it waits now.
func TestStepForEachList(t *testing.T) {
	inQueue(t, func(q queue) {
		var paths []string
		ahead := []*lockqueue.Contender{q.contender(), q.contender()}
		for _, c := range ahead {
			q.next(c)
			names := q.server.Children("/queue")
			slices.SortFunc(names, func(a, b string) int { return slices.Compare([]byte(oneByOne{}.Order(a)), []byte(oneByOne{}.Order(b))) })
			paths = append(paths, "/queue/"+names[len(names)-1])
		}
		c := q.contender()
		for i := 1; i >= 0; i-- {
			step := q.next(c)
			if step.First != nil || !slices.Equal(step.Behind, paths[i:i+1]) || "/queue/"+step.Holder != paths[0] {
				t.Errorf("behind %q, held by %s, want behind %s and %s first", step.Behind, step.Holder, paths[i], paths[0])
			}
			q.remove(paths[i])
		}
		if step := q.next(c); len(step.First) != 1 {
			t.Errorf("%d nodes are first", len(step.First))
		}
		if step := q.next(c); len(step.First) != 1 {
			t.Errorf("%d nodes are first when the step is asked for once more", len(step.First))
		}
	})
}

// After ErrGone the contender deletes its node and takes another place, without a look at the queue.
func TestAnotherPlaceAfterErrGone(t *testing.T) {
	inQueue(t, func(q queue) {
		c := q.contender()
		before := q.next(c).First[0].Path()
		zxid := q.client.LastZxid()
		if err := c.Again(t.Context(), ephemeral.ErrGone); err != nil {
			t.Fatal(err)
		}
		after := q.next(c).First[0].Path()
		if names := q.server.Children("/queue"); after == before || len(names) != 1 || "/queue/"+names[0] != after {
			t.Errorf("before %s, after %s; there are %q", before, after, names)
		}
		if writes := q.client.LastZxid() - zxid; writes != 2 {
			t.Errorf("%d writes, want a delete and a create", writes)
		}
	})
}

// After ErrLookAgain the contender keeps its place.
func TestSamePlaceAfterErrLookAgain(t *testing.T) {
	inQueue(t, func(q queue) {
		c := q.contender()
		before := q.next(c).First[0].Path()
		zxid := q.client.LastZxid()
		if err := c.Again(t.Context(), lockqueue.ErrLookAgain); err != nil {
			t.Fatal(err)
		}
		if after := q.next(c).First[0].Path(); after != before || q.client.LastZxid() != zxid {
			t.Errorf("before %s, after %s, %d writes", before, after, q.client.LastZxid()-zxid)
		}
	})
}

// A node that is held is its holder's: the contender takes another place, behind it.
func TestAnotherPlaceAfterHeld(t *testing.T) {
	inQueue(t, func(q queue) {
		c := q.contender()
		node := q.next(c).First[0]
		h := &holder{}
		if err := node.Hold(h); err != nil {
			t.Fatal(err)
		}
		c.Held()
		if step := q.next(c); step.First != nil || !slices.Equal(step.Behind, []string{node.Path()}) {
			t.Errorf("behind %q, want %s", step.Behind, node.Path())
		}
		node.Delete(t.Context(), ephemeral.Release{})
		<-node.Deletion().Done
		if step := q.next(c); len(step.First) != 1 || step.First[0].Path() == node.Path() {
			t.Errorf("%d nodes are first", len(step.First))
		}
		if len(h.lost) > 0 {
			t.Errorf("the holder lost its node: %v", h.lost)
		}
	})
}
