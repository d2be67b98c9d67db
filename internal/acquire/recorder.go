// Package acquire measures how much code an Acquire of a mutex and its Release go through: the files of
// recipes/locks, recipes/internal/lockqueue and recipes/internal/ephemeral that they enter, and the calls from
// one of these files to another.
//
//	go test -v -run TestFigures ./internal/acquire
//
// prints both. TestFigures builds copies of the three packages in which every function begins with a call of
// [Entered]. Only these copies and the tests of this package import it.
package acquire

import (
	"runtime"
	"strings"
	"sync"
)

// Place is a line of a file.
type Place struct {
	File string
	Line int
}

// Call is a function that was entered.
type Call struct {
	Callee Place
	// Caller is the function that called Callee. Functions of the standard library between the two do not count:
	// the caller of what sync.Once calls is the caller of Do. Caller is zero if a goroutine began with Callee.
	Caller Place
}

var recorder struct {
	mu    sync.Mutex
	calls map[Call]bool // nil if nothing is recorded
}

// Start begins to record the functions that are entered.
func Start() {
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	recorder.calls = map[Call]bool{}
}

// Stop ends the recording, and returns each call once.
func Stop() []Call {
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	var all []Call
	for call := range recorder.calls {
		all = append(all, call)
	}
	recorder.calls = nil
	return all
}

// Entered records its caller as a function that was entered.
func Entered() {
	var pcs [32]uintptr
	stack := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	frame, more := stack.Next()
	call := Call{Callee: Place{frame.File, frame.Line}}
	for more && call.Caller == (Place{}) {
		if frame, more = stack.Next(); !isStandard(frame.Function) {
			call.Caller = Place{frame.File, frame.Line}
		}
	}
	recorder.mu.Lock()
	defer recorder.mu.Unlock()
	if recorder.calls != nil {
		recorder.calls[call] = true
	}
}

// isStandard reports whether a function is of the standard library, whose import paths have no dot in their first
// element.
func isStandard(function string) bool {
	first, _, isLonger := strings.Cut(function, "/")
	return !isLonger || !strings.Contains(first, ".")
}
