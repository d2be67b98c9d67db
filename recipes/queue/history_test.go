package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// history is what several clients did with one queue, for the question whether there is an order
// of the operations, each within its call, in which a queue in memory would answer the same.
type history struct {
	mu    sync.Mutex
	clock int
	ops   []*operation
}

type opKind int8

const (
	opPut opKind = iota
	opPoll
)

// operation is a call with its answer. value is what was put or taken; a poll of an empty queue
// has 0.
type operation struct {
	kind        opKind
	value       int
	call, reply int
	doubt       bool // it may have taken effect, also after its reply, and a poll's value is not known
}

func (h *history) begin(kind opKind, value int) *operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	o := &operation{kind: kind, value: value, call: h.clock}
	h.ops = append(h.ops, o)
	return o
}

func (h *history) end(o *operation, value int, doubt bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	o.value, o.reply, o.doubt = value, h.clock, doubt
}

func (h *history) String() string {
	var text strings.Builder
	for _, o := range h.ops {
		fmt.Fprintf(&text, "%d..%d %s %d doubt %v\n", o.call, o.reply, []string{"put", "poll"}[o.kind], o.value, o.doubt)
	}
	return text.String()
}

// linearizable searches for the order.
func (h *history) linearizable() bool {
	return search(h.ops, 0, nil, map[string]bool{})
}

// search reports whether the operations that are not done can follow in some order on a queue with
// these values. done is a set of indices; seen has the states that lead nowhere.
func search(ops []*operation, done uint64, values []int, seen map[string]bool) bool {
	open := false
	for i, o := range ops {
		open = open || done&(1<<i) == 0 && !o.doubt
	}
	if !open {
		return true
	}
	state := fmt.Sprint(done, values)
	if seen[state] {
		return false
	}
	for i, o := range ops {
		if done&(1<<i) != 0 || mustWait(ops, done, o) {
			continue
		}
		for _, next := range o.effects(values) {
			if search(ops, done|1<<i, next, seen) {
				return true
			}
		}
	}
	seen[state] = true
	return false
}

// mustWait reports whether another operation that is not done had its reply before o was called.
func mustWait(ops []*operation, done uint64, o *operation) bool {
	for i, other := range ops {
		if done&(1<<i) == 0 && !other.doubt && other.reply < o.call {
			return true
		}
	}
	return false
}

// effects returns the queues after o; none if o cannot have had its answer.
func (o *operation) effects(values []int) [][]int {
	switch {
	case o.kind == opPut:
		return [][]int{append(slices.Clone(values), o.value)}
	case o.doubt && len(values) > 0, len(values) > 0 && values[0] == o.value:
		return [][]int{values[1:]}
	case !o.doubt && len(values) == 0 && o.value == 0:
		return [][]int{values}
	}
	return nil
}

// The search finds what no queue does.
func TestHistoryIsChecked(t *testing.T) {
	sequence := func(ops ...operation) *history {
		h := new(history)
		for _, o := range ops {
			h.end(h.begin(o.kind, o.value), o.value, o.doubt)
		}
		return h
	}
	put := func(v int) operation { return operation{kind: opPut, value: v} }
	poll := func(v int) operation { return operation{kind: opPoll, value: v} }
	doubt := func(o operation) operation { o.doubt = true; return o }
	for _, ok := range []*history{
		sequence(put(1), put(2), poll(1), poll(2), poll(0)),
		sequence(doubt(put(1)), put(2), poll(2), poll(1)),
		sequence(put(1), doubt(poll(0)), poll(0)),
		sequence(put(1), doubt(poll(0)), poll(1)),
	} {
		if !ok.linearizable() {
			t.Errorf("a queue behaves so:\n%s", ok)
		}
	}
	for _, bad := range []*history{
		sequence(put(1), put(2), poll(2)),
		sequence(put(1), poll(1), poll(1)),
		sequence(put(1), poll(0)),
		sequence(put(1), put(2), doubt(poll(0)), poll(0)),
	} {
		if bad.linearizable() {
			t.Errorf("no queue behaves so:\n%s", bad)
		}
	}
}
