package zkconn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// Write takes one whole frame of the driver's. It never fails: a write error closes the
// connection, and the reading side tells the driver, which survives that better.
func (w *wire) Write(p []byte) (int, error) {
	o := outgoing{frame: slices.Clone(p)}
	if !w.hello {
		w.hello = true
		o.frame = w.connectRequest(o.frame)
	} else {
		o.xid = int32(binary.BigEndian.Uint32(p[4:]))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parting != nil {
		return w.parting.Write(p)
	}
	if isClose(p) {
		w.bye = o.xid // also on a dead wire: the driver does not send it again, nobody is to wait for it
	}
	if w.err == nil {
		w.enqueue(o)
	}
	return len(p), nil
}

// connectRequest corrects the driver's connect request: the highest zxid seen counts
// our own replies, and a session that was given up locally is not resumed.
func (w *wire) connectRequest(frame []byte) []byte {
	var r jute.ConnectRequest
	if len(frame) < 4 || jute.Decode(frame[4:], &r) != nil {
		return frame // not the driver we know; the server will say so
	}
	w.conn.prepare(&r)
	b := r.Append(make([]byte, 4, 4+len(frame)+1))
	b = jute.AppendBool(b, false) // not content with a read-only server
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// enqueue hands o to the writer; the caller holds w.mu and has seen w.err nil.
func (w *wire) enqueue(o outgoing) {
	w.queue = append(w.queue, o)
	select {
	case w.wake <- struct{}{}:
	default: // it has been told already
	}
}

// maxWaiting is how many requests may wait for an answer: a server that is stopped, and
// callers that give up soon and try again, must not fill the memory.
const maxWaiting = 100_000

var (
	errWireDead = errors.New("the connection has ended")
	errCrowded  = &TransportError{Err: ErrThrottled, Detail: fmt.Errorf("%d requests wait for an answer", maxWaiting)}
)

// send queues a batch, or returns errWireDead, errCrowded or ErrCovered.
func (w *wire) send(b *batch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil || w.mute:
		return errWireDead
	case len(w.queue)+len(w.pending.waiting()) >= maxWaiting:
		return errCrowded
	}
	if slices.ContainsFunc(b.calls, w.conn.subs.covered) {
		return ErrCovered
	}
	for i, call := range b.calls {
		call.Session = w.session
		for watch := range call.watches {
			w.hub.add(watch, w)
		}
		if call.Watch != nil {
			b.setWatch(i, !w.conn.subs.cover(call.Watch.path))
		}
	}
	w.enqueue(outgoing{batch: b})
	return nil
}

// writeLoop writes what is queued, everything in one write, until the wire is dead.
func (w *wire) writeLoop() {
	var buf []byte
	for {
		select {
		case <-w.wake:
		case <-w.dead:
			return
		}
		buf = w.collect(buf[:0])
		if len(buf) == 0 {
			continue
		}
		err := w.raw.SetWriteDeadline(time.Now().Add(w.conn.writeTimeout()))
		if err == nil {
			_, err = w.raw.Write(buf)
		}
		if err != nil {
			w.writeFailed(err)
			return
		}
		if cap(buf) > 1<<20 {
			buf = nil // an exceptionally large request shall not be kept for ever
		}
	}
}

// drainTime is how long a connection that takes nothing any more is still read.
const drainTime = 250 * time.Millisecond

// writeFailed ends the wire, after what the server has said before: it may be the reason.
func (w *wire) writeFailed(err error) {
	w.mu.Lock()
	w.mute = true
	w.mu.Unlock()
	if err := w.raw.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		w.fail(err)
		return
	}
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		w.fail(err)
	case <-w.dead:
	}
}

// collect appends all queued frames to buf and puts them on the line of requests that
// wait for an answer.
func (w *wire) collect(buf []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.evidence.stamp(w.conn.clock.now(), w.conn.clock.awake())
	for _, o := range w.queue {
		switch {
		case o.batch == nil && !w.greeted: // the handshake, whose answer has no header
			w.greeted, w.sentAt = true, now.sent
			buf = append(buf, o.frame...)
		case o.batch == nil:
			buf = append(buf, o.frame...)
			w.pending.add(pending{xid: o.xid, stamp: now})
		case o.batch.phase.CompareAndSwap(batchQueued, batchSent):
			for i, start := range o.batch.starts {
				xid := w.nextXid()
				binary.BigEndian.PutUint32(o.batch.frames[start+4:], uint32(xid))
				w.pending.add(pending{xid: xid, stamp: now, batch: o.batch, index: i})
			}
			buf = append(buf, o.batch.frames...)
			o.batch.frames = nil
		}
	}
	clear(w.queue)
	w.queue = w.queue[:0]
	return buf
}

func (w *wire) nextXid() int32 {
	xid := w.xid
	w.xid--
	if w.xid == math.MinInt32 {
		w.xid = firstXid
	}
	return xid
}
