package sequences_test

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"testing/synctest"
	"time"
)

// end sees that the component works on or ends, and leaves nothing behind.
func (r *run) end() {
	closed, gone := r.closing != nil, r.ending != nil
	switch {
	case closed:
		r.returns("Close", r.closing, r.closeBound())
	case !gone:
		r.worksOn()
	}
	if gone {
		r.returns("the client's Close", r.ending, bound)
	}
	if r.starting != nil {
		r.returns("Start", r.starting, bound)
	}
	r.line.heal()
	if !gone {
		r.good()
	}
	if !closed {
		r.closes(gone)
	}
	r.await("the end of all calls", func() bool { return r.calls.Load() == 0 })
	if gone {
		time.Sleep(3 * timeout) // a session that could not be closed ends
	}
	r.nothingLeft(gone)
	if !gone {
		r.closeClient()
		if err := r.returns("the client's Close", r.ending, within); err != nil {
			r.fail("the client's Close: %v", err)
		}
	}
	r.cancel()
	synctest.Wait()
	r.noGoroutines()
	r.judge()
	r.other.close()
}

// closeBound returns how long the Close of the sequence may take.
func (r *run) closeBound() time.Duration {
	if slices.Contains(r.sequence[slices.Index(r.sequence, Close):], ContextEnds) {
		return ended
	}
	return bound
}

// good waits for a connection.
func (r *run) good() {
	r.Helper()
	r.await("a good connection", r.up)
}

// worksOn sees that the component tells of a change that was made before the connection is good again, and of
// another one.
func (r *run) worksOn() {
	if r.starting != nil && slices.Contains(r.sequence, ContextEnds) {
		r.startAgain(r.returns("Start", r.starting, ended))
	}
	r.change(1)
	synctest.Wait()
	r.line.heal()
	r.good()
	for r.starting != nil {
		r.startAgain(r.returns("Start", r.starting, within))
	}
	r.isTold(1)
	r.change(2)
	r.isTold(2)
}

// startAgain calls Start again if it has returned an error, as often as it may.
func (r *run) startAgain(err error) {
	r.starting = nil
	if err == nil {
		return
	}
	if r.tries++; r.tries > maxStarts {
		r.fail("Start, after %d tries: %v", r.tries, err)
		return
	}
	r.starting = began(func() error { return r.start(context.WithoutCancel(r.Context())) })
}

// isTold waits for a change to be told.
func (r *run) isTold(n int) {
	r.Helper()
	synctest.Wait()
	missing := r.told(n)
	for begin := time.Now(); missing != "" && time.Since(begin) < within; missing = r.told(n) {
		time.Sleep(within / 20)
		synctest.Wait()
	}
	if missing != "" {
		r.fail("change %d was not told within %v: %s", n, within, missing)
	}
}

// closes closes a component that is not closed.
func (r *run) closes(gone bool) {
	r.closing = began(func() error { return r.close(context.WithoutCancel(r.Context())) })
	if gone {
		r.returns("Close", r.closing, bound)
		return
	}
	if err := r.returns("Close", r.closing, within); err != nil {
		r.fail("Close: %v", err)
	}
}

// returns waits for a call to return.
func (r *run) returns(what string, result <-chan error, most time.Duration) error {
	r.Helper()
	synctest.Wait()
	select {
	case err := <-result:
		return err
	case <-time.After(most):
		r.fail("%s has not returned after %v", what, most)
	}
	select { // so that the goroutines of one that returns late are not left
	case <-result:
	case <-time.After(time.Hour):
	}
	return nil
}

// nothingLeft sees that no ephemeral node is left, and no watch but that of the record. What is left is done in
// the background.
func (r *run) nothingLeft(gone bool) {
	r.Helper()
	watches := 1
	if gone {
		watches = 0
	}
	for begin := time.Now(); ; settle() {
		nodes, more := r.other.ephemerals("/"), r.server.Watches()-watches
		if len(nodes) == 0 && more == 0 {
			return
		}
		if time.Since(begin) >= within {
			r.fail("%d ephemeral nodes and %d watches are left: %s", len(nodes), more, strings.Join(nodes, ", "))
			return
		}
	}
}

// noGoroutines sees that no goroutine of the component or the client is left.
func (r *run) noGoroutines() {
	stacks := make([]byte, 1<<18)
	n := runtime.Stack(stacks, true)
	for n == len(stacks) { // it may be cut off
		stacks = make([]byte, 2*n)
		n = runtime.Stack(stacks, true)
	}
	own, others, _ := bytes.Cut(stacks[:n], []byte("\n\n"))
	_, bubble, _ := bytes.Cut(own, []byte("synctest bubble"))
	bubble, _, _ = bytes.Cut(bubble, []byte("]"))
	for stack := range strings.SplitSeq(string(others), "\n\n") {
		head, _, _ := strings.Cut(stack, "\n")
		if !strings.Contains(head, "synctest bubble"+string(bubble)+"]") {
			continue // of another test
		}
		if !strings.Contains(stack, "internal/zkserver.") && !strings.Contains(stack, "internal/synctest.Run(") && !strings.Contains(stack, ".testingSynctestTest(") {
			r.fail("a goroutine is left:\n%s", stack)
		}
	}
}

// judge sees that the session layer has told what the sequence says, and nothing that cannot be.
func (r *run) judge() {
	all, wrong := r.record.all()
	for _, w := range wrong {
		r.fail("%s", w)
	}
	for n := range all {
		if !legal(all[:n+1]) {
			r.fail("the session layer tells what it must not: %s", text(all[:n+1]))
			return
		}
	}
	want, _ := told(r.sequence)
	rest := all
	for _, s := range want {
		if s >= Call && s != ClientClosed {
			continue // at any time
		}
		i := slices.Index(rest, s)
		if i < 0 {
			r.fail("this is not the sequence: %s", text(all))
			return
		}
		rest = rest[i+1:]
	}
}
