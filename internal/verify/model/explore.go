package model

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"
)

// Limits bound an exploration. Zero values bound nothing.
type Limits struct {
	States int
	Time   time.Duration
}

// Result says what Explore has found.
type Result struct {
	States    int      // distinct states, mirror images counted once
	Steps     int      // between them
	Depth     int      // the length of the longest of the shortest ways to a state
	Ends      int      // states in which nothing has to happen any more
	Complete  bool     // every reachable state was seen
	Violation string   // what is wrong, beginning with its letter; "" if nothing is
	Trace     []string // the shortest way there
	Took      time.Duration
}

// Explore looks at every state that cfg can reach, the nearest first, until it finds a violation, has
// seen all, comes to a limit, or ctx ends.
func Explore(ctx context.Context, cfg *Config, limits Limits) Result {
	e := &explorer{world: newWorld(cfg), seen: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	if cfg.Expect == "" {
		e.alike = cfg.alike()
	}
	began := time.Now()
	e.run(ctx, func() bool {
		return limits.States > 0 && len(e.parent) > limits.States || limits.Time > 0 && time.Since(began) > limits.Time
	})
	e.Took = time.Since(began)
	if e.Violation != "" && len(e.alike) > 1 { // once more, so that contenders keep their names
		named := *cfg
		named.Expect, _, _ = strings.Cut(e.Violation, ":")
		return Explore(ctx, &named, limits)
	}
	return e.Result
}

// explorer searches breadth first. Of a state it keeps a hash of 64 bits, its predecessor and the
// number of the step that led to it.
type explorer struct {
	*world
	Result
	seed     maphash.Seed
	seen     map[uint64]struct{}
	parent   []uint32
	ordinal  []uint16
	frontier []byte // the states to look at, encoded
	next     []byte
	buffer   []byte
}

func (e *explorer) run(ctx context.Context, enough func() bool) {
	first := e.first()
	e.State = &first
	e.normalize()
	e.add(0, 0)
	id := uint32(0)
	for e.Violation == "" && len(e.next) > 0 {
		e.frontier, e.next = e.next, e.frontier[:0]
		rest := e.frontier
		var s State
		for ; len(rest) > 0 && e.Violation == ""; id++ {
			if id&0xff == 0 && (ctx.Err() != nil || enough()) {
				e.States = len(e.parent)
				return
			}
			e.State = &s
			rest = e.decode(rest)
			e.expand(id, &s)
		}
		e.Depth++
	}
	e.States = len(e.parent)
	e.Complete = e.Violation == ""
}

// expand looks at everything that may follow state number id.
func (e *explorer) expand(id uint32, s *State) {
	ends := true
	ordinal := uint16(0)
	e.steps(func(st step) {
		if e.Violation != "" {
			return
		}
		ends = ends && st.kind > lastOfSystem
		next := *s
		e.State, e.violation = &next, ""
		e.take(st)
		e.judge()
		e.Steps++
		if e.violation != "" {
			e.found(id, &ordinal)
		} else {
			e.add(id, ordinal)
		}
		e.State = s
		ordinal++
	})
	if !ends || e.Violation != "" {
		return
	}
	e.Ends++
	e.violation = ""
	if e.judgeEnd(); e.violation != "" {
		e.found(id, nil)
	}
}

// add keeps the present state, unless it was seen before.
func (e *explorer) add(parent uint32, ordinal uint16) {
	e.buffer = e.encode(e.buffer[:0])
	h := maphash.Bytes(e.seed, e.buffer)
	if _, ok := e.seen[h]; ok {
		return
	}
	e.seen[h] = struct{}{}
	e.next = append(e.next, e.buffer...)
	e.parent = append(e.parent, parent)
	e.ordinal = append(e.ordinal, ordinal)
}

// found keeps the violation that a step from state number id leads to, or that state itself.
func (e *explorer) found(id uint32, last *uint16) {
	var path []uint16
	if last != nil {
		path = append(path, *last)
	}
	for ; id != 0; id = e.parent[id] {
		path = append(path, e.ordinal[id])
	}
	e.Violation = e.violation
	if len(e.alike) < 2 { // else the steps are those of mirror images
		e.Trace = trace(e.cfg, path)
	}
}

// trace tells what happens on a path whose last step comes first. Without mirror images, the steps of
// each state are the same and in the same order whether or not its nodes were numbered anew.
func trace(cfg *Config, path []uint16) []string {
	w := newWorld(cfg)
	s := w.first()
	w.State, w.tracing = &s, true
	w.normalize()
	for _, taken := range slices.Backward(path) {
		var chosen step
		ordinal := uint16(0)
		w.steps(func(st step) {
			if ordinal == taken {
				chosen = st
			}
			ordinal++
		})
		w.take(chosen)
	}
	return w.notes
}
