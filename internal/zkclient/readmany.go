package zkclient

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
)

// The window of ReadMany: how many reads are under way, or answered and not yet taken, and how many of them
// are sent in one write. While one part of the window is taken, the others are on their way.
const (
	readWindow = 256
	readChunk  = 64
	// readBytes is what the answers in the window should have, by the size of the last ones.
	readBytes = 16 << 20
)

// NodeRead is one of many reads.
type NodeRead struct {
	Path  string         // the client's
	Full  string         // the server's
	Calls []*zkconn.Call // with their answers, if Err is nil
	Err   error          // of the user; one that is set before is kept, and nothing is sent
}

// ReadMany sends reads, many in one write and several writes at a time, and yields each behind its answer, in
// order. Reads without an answer are repeated as the retry policy says, together with those that were sent
// with them. When ctx has ended, or the client is closed, the first read without an answer gets that error,
// and is the last. The caller's own code, which is reads and yield, may use the client.
func (c *Client) ReadMany(ctx context.Context, reads iter.Seq[*NodeRead], yield func(*NodeRead) bool) error {
	const name = "readMany"
	conn, err := c.Usable(ctx)
	if err != nil {
		return c.fail(name, "", err)
	}
	session, _ := ctx.Value(sessionKey{}).(int64)
	ctx, traced := c.cfg.Telemetry.Operation(ctx, conn, telemetry.Op{Name: name, Background: isLate(ctx)})
	m := &manyReads{c: c, ctx: ctx, conn: conn, session: session, yield: yield, tries: 1, err: ErrPanicked}
	defer func() {
		m.abandon()
		traced.End(m.tries, m.err)
	}()
	more := true
	for read := range reads {
		if more = m.add(read); !more {
			break
		}
	}
	if more && len(m.next) > 0 {
		m.send()
	}
	for more && len(m.sent) > 0 {
		more = m.deliver()
	}
	if m.err == ErrPanicked { //nolint:errorlint // it is nobody else's
		m.err = nil
	}
	return nil
}

// manyReads are the reads of one ReadMany. They are sent, and their answers are taken, on the caller's
// goroutine alone.
type manyReads struct {
	c       *Client
	ctx     context.Context
	conn    *zkconn.Conn
	session int64 // 0 for any
	yield   func(*NodeRead) bool

	sent  []*readFlight // the oldest first
	next  []*NodeRead   // behind them, not sent
	size  int           // of an answer in bytes, as the last ones were
	tries int           // of the read that was tried most
	last  *NodeRead     // behind which nothing is yielded; nil for none
	err   error         // of the last read without an answer; ErrPanicked until the end
}

// readFlight is some reads that are sent in one write.
type readFlight struct {
	reads  []*NodeRead    // those that were not yielded
	calls  []*zkconn.Call // those that were not answered
	flight *zkconn.Flight // nil if they are not under way
	err    error          // why, if they were not sent
	tries  int
	known  bool // each read has its answer or its error
}

// len returns how many reads were taken from the caller and not yielded.
func (m *manyReads) len() int {
	n := len(m.next)
	for _, f := range m.sent {
		n += len(f.reads)
	}
	return n
}

// window returns how many reads there may be.
func (m *manyReads) window() int { return max(4, min(readWindow, readBytes/max(m.size, 1))) }

// add takes one more read. It reports false if there are to be no more.
func (m *manyReads) add(read *NodeRead) bool {
	for m.len() >= m.window() {
		if n := len(m.next); n > 0 && (len(m.sent) == 0 || n >= min(readChunk, m.window()/4)) { // the window has shrunk
			m.send()
		}
		if !m.deliver() {
			return false
		}
	}
	m.next = append(m.next, read)
	if len(m.next) >= min(readChunk, m.window()/4) {
		m.send()
	}
	return true
}

// send sends the reads that were not sent.
func (m *manyReads) send() {
	f := &readFlight{reads: m.next}
	m.next = nil
	for _, read := range f.reads {
		if read.Err == nil {
			f.calls = append(f.calls, read.Calls...)
		}
	}
	m.sent = append(m.sent, f)
	if f.known = len(f.calls) == 0; !f.known {
		m.start(m.ctx, f)
	}
}

// start sends the calls of f, if there is a connection.
func (m *manyReads) start(ctx context.Context, f *readFlight) {
	f.tries++
	if ctx.Err() != nil {
		f.err = ended(ctx)
		return
	}
	flight, queued := m.conn.Start(m.session, nil, f.calls...)
	if queued {
		f.flight = flight
	} else {
		f.err = flight.Result()
	}
}

// deliver yields the oldest read. It reports false if there are to be no more.
func (m *manyReads) deliver() bool {
	first := m.sent[0]
	if !first.known {
		m.await(first)
	}
	read := first.reads[0]
	first.reads[0] = nil
	if first.reads = first.reads[1:]; len(first.reads) == 0 {
		m.sent[0] = nil
		m.sent = m.sent[1:]
	}
	return m.yield(read) && read != m.last
}

// await waits for the answers to the oldest flight, with the retries of the client's policy.
func (m *manyReads) await(first *readFlight) {
	var err error
	if first.flight == nil && errors.Is(first.err, zkconn.ErrConnectionLoss) {
		err = m.attempt(m.ctx, m.conn) // it waits for a connection
	} else {
		err = m.take(m.ctx, first)
	}
	if err != nil {
		op := Operation{Name: Word(first.calls[0]), Path: m.pathOf(first), Repeat: true}
		var tries int
		tries, err = m.c.repeat(m.ctx, m.conn, op, m.attempt, err)
		m.tries = max(m.tries, tries)
		m.giveUp(first, tries, err)
	}
	first.known = true
	if len(first.calls) > 0 {
		return
	}
	size := 0
	for _, read := range first.reads {
		size += read.size()
	}
	m.size = size / len(first.reads)
}

// take waits for the answers to a flight. Its calls are then those that have none, or one that may pass, and
// the error is that of the first of them.
func (m *manyReads) take(ctx context.Context, f *readFlight) error {
	err := f.err
	if f.flight != nil {
		err = f.flight.Wait(ctx)
	}
	f.flight, f.err = nil, nil
	f.calls = slices.DeleteFunc(f.calls, isRead)
	switch {
	case len(f.calls) == 0:
		return nil
	case err == nil:
		err = f.calls[0].Err
	}
	if m.session != 0 && errors.Is(err, zkconn.ErrSessionExpired) {
		return m.c.cfg.Fail(Failure{Op: Word(f.calls[0]), Attempts: 1, Err: err, Outcome: Outcome{final: true}})
	}
	return NotApplied(err)
}

// attempt sends again what has no answer, and waits for the oldest flight.
func (m *manyReads) attempt(ctx context.Context, conn *zkconn.Conn) error {
	if _, err := conn.Connected(ctx); err != nil {
		return NotApplied(err)
	}
	for i, f := range m.sent {
		if f.known || f.flight != nil && !f.flight.Ended() {
			continue
		}
		if i > 0 && m.take(ctx, f) == nil {
			f.known = true
			continue
		}
		for _, call := range f.calls {
			*call = zkconn.Call{Op: call.Op, Req: call.Req, Res: call.Res}
		}
		m.start(ctx, f)
	}
	return m.take(ctx, m.sent[0])
}

// giveUp makes err the error of the reads of the oldest flight that have no answer, nil for none. Others that
// have none either, and were sent as often, get it, too.
func (m *manyReads) giveUp(first *readFlight, tries int, err error) {
	if err == nil {
		return
	}
	outcome := Outcome{}
	if failed, ok := errors.AsType[failedError](err); ok {
		outcome = failed.outcome()
	}
	why := errors.Unwrap(err)
	over := errors.Is(err, zkconn.ErrClosed) || m.ctx.Err() != nil && errors.Is(err, m.ctx.Err())
	for _, f := range m.sent {
		if f != first {
			waits := f.flight != nil && !f.flight.Ended()
			if f.known || waits || f.tries < first.tries || m.take(m.ctx, f) == nil {
				continue
			}
		}
		for _, read := range f.reads {
			if call := read.unanswered(); call != nil {
				read.Err = m.c.cfg.Fail(Failure{Op: Word(call), Path: read.Path, Attempts: tries, Err: why, Outcome: outcome})
				if m.err = read.Err; over {
					m.last = read
					return
				}
			}
		}
		f.known = true
	}
}

// failedError is the error of Config.Fail.
type failedError interface {
	error
	outcome() Outcome
}

// abandon withdraws what was not sent. What was sent is answered, and nobody takes the answers.
func (m *manyReads) abandon() {
	if len(m.sent) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(m.c.life)
	cancel()
	for _, f := range m.sent {
		if f.flight != nil {
			_ = f.flight.Wait(ctx) // nobody asks any more
		}
	}
}

// pathOf returns the path of the first read of a flight that has no answer.
func (m *manyReads) pathOf(f *readFlight) string {
	for _, read := range f.reads {
		if read.unanswered() != nil {
			return read.Path
		}
	}
	return ""
}

// isRead reports whether a call has an answer that does not pass.
func isRead(call *zkconn.Call) bool { return call.Answered() && !Retryable(call.Err) }

// unanswered returns the first call that is not read, nil if there is none, or if the read has failed.
func (r *NodeRead) unanswered() *zkconn.Call {
	for _, call := range r.Calls {
		if r.Err == nil && !isRead(call) {
			return call
		}
	}
	return nil
}

// size returns how large the answers are, without the Stats.
func (r *NodeRead) size() (n int) {
	for _, call := range r.Calls {
		n += len(call.Data())
		for _, name := range call.Names() {
			n += len(name) + 16
		}
	}
	return n
}

// Word returns the word of framework.OpError for a read.
func Word(call *zkconn.Call) string {
	if call.Op == jute.OpGetChildren2 {
		return "getChildren"
	}
	return jute.OpName(call.Op)
}
