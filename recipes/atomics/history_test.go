package atomics_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/atomics"
)

// A history of a register. Every value that is written is different.
type history struct {
	clock   atomic.Int64 // orders the beginnings and the ends of calls
	mu      sync.Mutex
	changes []*change
	reads   []read
}

type change struct {
	pre, post  string
	begin, end int64
	doubt      bool // there was no answer: it may have been made, at any time
	client     int
}

type read struct {
	value      string
	begin, end int64
	client     int
}

// register is a model of the changes. An empty post is the last read, when all is quiet.
func register(first string) porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(state, input, _ any) []any {
			var after []any
			c := input.(*change)
			if c.doubt {
				after = append(after, state) // it has no effect
			}
			switch {
			case c.pre != state.(string):
			case c.post == "":
				after = append(after, state)
			default:
				after = append(after, c.post)
			}
			return after
		},
	}).ToModel()
}

// check returns what is wrong unless the changes could have been made one after the other, each at a moment between
// its beginning and its end. Reads may be behind the changes of other clients, not behind what
// their own client has read or written.
func (h *history) check(first, last string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	const end = math.MaxInt64 - 1 // nothing begins later
	ops := []porcupine.Operation{{Input: &change{pre: last}, Call: end, Return: end}}
	by := map[string]*change{}
	for _, c := range h.changes {
		if by[c.post] != nil {
			say("%q was written twice", c.post)
		}
		by[c.post] = c
		op := porcupine.Operation{Input: c, Call: c.begin, Return: c.end}
		if c.doubt {
			op.Return = math.MaxInt64
		}
		ops = append(ops, op)
	}
	if wrong == nil && !porcupine.CheckOperations(register(first), ops) {
		say("the changes are not those of a register that is %q first and %q at the end", first, last)
	}
	if wrong != nil {
		return wrong
	}
	place := map[string]int{first: 0} // of a value, counted from the last one back
	for value := last; value != first; value = by[value].pre {
		place[value] = len(h.changes) - len(place) + 1
	}
	h.checkReads(say, by, place)
	return wrong
}

func (h *history) checkReads(say func(format string, args ...any), by map[string]*change, place map[string]int) {
	for _, r := range h.reads {
		at, known := place[r.value]
		if !known || by[r.value] != nil && by[r.value].begin > r.end {
			say("%q was read, which was not there", r.value)
		}
		for _, c := range h.changes {
			if c.client == r.client && !c.doubt && c.end < r.begin && place[c.post] > at {
				say("client %d has read %q behind its own change to %q", r.client, r.value, c.post)
			}
		}
		for _, other := range h.reads {
			if other.client == r.client && other.end < r.begin && place[other.value] > at {
				say("client %d has read %q, and before that %q", r.client, r.value, other.value)
			}
		}
	}
}

// clients of the histories and of the blocks have faults on their networks.
const clients = 4

// disturb makes faults at random on the network until ctx ends.
func disturb(ctx context.Context, t *testing.T, random *rand.Rand, c *framework.Client, network *suite.Network) {
	expired := int64(0)
	for ctx.Err() == nil {
		switch random.IntN(6) {
		case 0:
			network.Cut()
		case 1:
			if id := c.SessionID(); c.ConnectionState().IsConnected() && id != 0 && id != expired {
				network.Expire(t)
				expired = id
			}
		case 2:
			network.On(jute.OpGetData, suite.CutAfter, nil)
		case 3:
			network.On(jute.OpSetData, suite.CutBefore, nil)
		case 4:
			network.On(jute.OpSetData, suite.CutAfter, nil)
		case 5:
			heal := network.Isolate()
			_ = wait.For(ctx, time.Duration(random.IntN(1000))*time.Millisecond)
			heal()
		}
		_ = wait.For(ctx, time.Duration(random.IntN(300))*time.Millisecond)
	}
}

// client is one of a history's.
type client struct {
	*history
	id     int
	random *rand.Rand
	value  *atomics.DistributedAtomicValue
	last   string // known
}

func (c *client) run(ctx context.Context, t *testing.T) {
	for n := 0; ctx.Err() == nil; n++ {
		ch := &change{client: c.id, begin: c.clock.Add(1)}
		var err error
		swapped := true
		switch c.random.IntN(3) {
		case 0:
			c.read(ctx)
			continue
		case 1:
			ch.pre, ch.post = c.last, fmt.Sprintf("%d.%d", c.id, n)
			swapped, err = c.value.CompareAndSet(ctx, []byte(ch.pre), []byte(ch.post))
		case 2:
			tries := 0
			_, err = c.value.Update(ctx, func(pre []byte) ([]byte, error) {
				tries++ // what an earlier try has proposed was refused
				ch.pre, ch.post = string(pre), fmt.Sprintf("%d.%d.%d", c.id, n, tries)
				return []byte(ch.post), nil
			})
		}
		ch.end = c.clock.Add(1)
		ch.doubt = framework.MaybeApplied(err)
		if err != nil && !ch.doubt && !errors.Is(err, framework.ErrConnectionLoss) && ctx.Err() == nil {
			t.Errorf("client %d: %v", c.id, err)
		}
		if swapped && err == nil || ch.doubt {
			c.mu.Lock()
			c.changes = append(c.changes, ch)
			c.mu.Unlock()
			c.last = ch.post
		}
		_ = wait.For(ctx, time.Duration(c.random.IntN(5))*time.Millisecond)
	}
}

func (c *client) read(ctx context.Context) {
	r := read{client: c.id, begin: c.clock.Add(1)}
	value, err := c.value.Get(ctx)
	if err != nil {
		return
	}
	r.value, r.end = string(value), c.clock.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads = append(c.reads, r)
	c.last = r.value
}

// Histories of several clients with faults are those of a register.
func TestHistories(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inVirtualTime(t, func(e *env) {
				e.write("first")
				h := &history{}
				ctx, cancel := context.WithTimeout(e.t.Context(), 5*time.Second)
				defer cancel()
				var running sync.WaitGroup
				for id := range clients {
					random := rand.New(rand.NewPCG(seed, uint64(id)))
					cl, network := e.b.Client(e.t)
					suite.OK(e.t, cl.BlockUntilConnected(ctx))
					value := suite.Got(atomics.NewDistributedAtomicValue(cl, e.path, often)).OK(e.t)
					c := &client{history: h, id: id, random: random, value: value, last: "first"}
					running.Go(func() { c.run(ctx, e.t) })
					running.Go(func() { disturb(ctx, e.t, rand.New(rand.NewPCG(seed, 100+uint64(id))), cl, network) })
				}
				running.Wait()
				last := suite.Got(e.other.GetData().ForPath(e.t.Context(), e.path)).OK(e.t)
				for _, wrong := range h.check("first", string(last)) {
					e.t.Error(wrong)
				}
				if len(h.changes) < 100 {
					e.t.Errorf("only %d changes", len(h.changes))
				}
			})
		})
	}
}

// The check of histories sees what is wrong.
func TestHistoryCheck(t *testing.T) {
	good := func() *history {
		return &history{
			changes: []*change{
				{pre: "a", post: "b", begin: 1, end: 2}, {pre: "b", post: "c", begin: 3, end: 4, doubt: true},
				{pre: "c", post: "d", begin: 5, end: 6}, {pre: "b", post: "x", begin: 3, end: 7, doubt: true},
			},
			reads: []read{{value: "b", begin: 3, end: 4}, {value: "d", begin: 7, end: 8}},
		}
	}
	if wrong := good().check("a", "d"); wrong != nil {
		t.Error(wrong)
	}
	for name, spoil := range map[string]func(h *history){
		"lost":                func(h *history) { h.changes[3].doubt = false },
		"written late":        func(h *history) { h.changes[2].end, h.changes[1].begin = 2, 3 },
		"read back":           func(h *history) { h.reads[1].value = "a" },
		"read of the future":  func(h *history) { h.reads[0].value = "d" },
		"read of what is not": func(h *history) { h.reads[0].value = "x" },
		"written twice":       func(h *history) { h.changes[3].post = "c" },
		"written by nobody":   func(h *history) { h.changes[2].pre = "y" },
	} {
		h := good()
		spoil(h)
		if h.check("a", "d") == nil {
			t.Errorf("%s: not seen", name)
		}
	}
}

// Increments with faults: the sum is what was acknowledged, and at most what is in doubt.
func TestSumWithFaults(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		e.write("")
		ctx, cancel := context.WithTimeout(e.t.Context(), 10*time.Second)
		defer cancel()
		var running sync.WaitGroup
		var acknowledged, doubtful atomic.Int64
		for id := range uint64(8) {
			cl, network := e.b.Client(e.t)
			n := e.newLong(cl, often)
			running.Go(func() { disturb(ctx, e.t, rand.New(rand.NewPCG(1, id)), cl, network) })
			running.Go(func() {
				for ctx.Err() == nil {
					_, err := n.Increment(ctx)
					if err == nil {
						acknowledged.Add(1)
					} else if framework.MaybeApplied(err) {
						doubtful.Add(1)
					}
					_ = wait.For(ctx, 5*time.Millisecond) // virtual time does not pass by itself
				}
			})
		}
		running.Wait()
		low, high := acknowledged.Load(), acknowledged.Load()+doubtful.Load()
		if n := e.onServer(); n < low || n > high || low < 100 {
			e.t.Errorf("the sum is %d, want %d to %d", n, low, high)
		}
	})
}
