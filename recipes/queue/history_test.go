package queue_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/anishathalye/porcupine"
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

// linearizable reports whether there is such an order.
func (h *history) linearizable() bool {
	var ops []porcupine.Operation
	for _, o := range h.ops {
		op := porcupine.Operation{Input: o, Call: int64(o.call), Return: int64(o.reply)}
		if o.doubt {
			op.Return = math.MaxInt64
		}
		ops = append(ops, op)
	}
	return porcupine.CheckOperations(model, ops)
}

// model is a queue in memory. Its state is a string with a rune for each value.
var model = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any { return input.(*operation).effects(state.(string)) },
}).ToModel()

// effects returns the queues after o; none if o cannot have had its answer.
func (o *operation) effects(values string) []any {
	var after []any
	if o.doubt {
		after = append(after, values) // it has no effect
	}
	_, first := utf8.DecodeRuneInString(values)
	switch {
	case o.kind == opPut:
		after = append(after, values+string(rune(o.value)))
	case values == "" && o.value == 0 && !o.doubt:
		after = append(after, values)
	case values != "" && (o.doubt || values[:first] == string(rune(o.value))):
		after = append(after, values[first:])
	}
	return after
}

// The check finds what no queue does.
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
