package sequences_test

import (
	"context"
	"testing/synctest"
	"time"
)

// step takes a step of the sequence.
func (r *run) step(i int) {
	s := r.sequence[i]
	unsent := i+1 < len(r.sequence) && r.sequence[i+1] == ReplyUnsent // what is asked for in this step is to wait
	switch s {
	case ReplyOK:
		r.outstanding()
		r.plug(unsent)
		r.line.pass()
		r.record.add(ReplyOK)
	case ReplyLost:
		r.outstanding()
		r.record.request()
		synctest.Wait()
		r.line.passUnanswered()
		synctest.Wait()
		r.line.cut()
	case ReplyUnsent:
		r.unsent()
	case Suspended:
		r.flush()
		r.line.cut()
	case SessionLost:
		r.loseSession()
	case WatchReset, Connected:
		if s == WatchReset {
			r.happens()
		}
		r.connect()
		r.plug(unsent)
	case Event:
		r.plug(unsent)
		r.breaks(unsent && r.refused)
		r.record.add(Event)
		r.happens()
	case ClientClosed:
		r.closeClient()
	default:
		r.plug(unsent && r.up())
		r.record.add(s)
		r.does(s)
	}
}

// does is step for what users do with the component.
func (r *run) does(s Step) {
	ctx := r.ctx
	switch s {
	case Call:
		r.calling(r.call)
	case Panic:
		r.calling(func(ctx context.Context) error {
			panicking(ctx, r.panics)
			return nil
		})
	case ContextEnds:
		r.cancel()
		r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(r.Context()))
	case Close:
		r.closing = began(func() error { return r.close(ctx) })
	}
}

func (r *run) closeClient() {
	r.ending = began(func() error { return r.client.Close(context.WithoutCancel(r.Context())) })
}

// up reports whether there is a connection.
func (r *run) up() bool { return r.conn.State().IsConnected() }

// happens makes a change at the server.
func (r *run) happens() {
	r.events++
	r.event(r.events)
}

// calling has the user call something. An error is an answer.
func (r *run) calling(call func(ctx context.Context) error) {
	r.calls.Add(1)
	ctx := r.ctx
	go func() {
		defer r.calls.Add(-1)
		_ = call(ctx)
	}()
	synctest.Wait()
}

// outstanding has a request wait: one of the component, or else one of its user.
func (r *run) outstanding() {
	if r.line.held() == 0 {
		r.calling(r.call)
	}
	if r.line.held() == 0 { // the component is closed, or the call needs no server
		r.calling(func(ctx context.Context) error {
			_, err := r.client.CheckExists().ForPath(ctx, "/")
			return err
		})
	}
}

// plug has no request leave the client from now on.
func (r *run) plug(wanted bool) {
	if wanted && r.plugged == 0 {
		r.line.plug()
		r.record.request() // which is being written
		synctest.Wait()
		r.plugged = r.conn.Outstanding()
	}
}

// breaks has the client learn that the connection of a plugged line takes nothing any more. Before the client
// gives that up it is read for a moment: events come, and requests are refused.
func (r *run) breaks(wanted bool) {
	if wanted {
		r.broken = true
		r.line.breaks()
		synctest.Wait()
	}
}

// unsent has a request fail that was never sent.
func (r *run) unsent() {
	switch {
	case !r.up():
		if r.calls.Load() == 0 {
			r.calling(r.call)
		}
		r.record.request()
		time.Sleep(patience)
		return
	case r.broken:
		r.await("the end of a connection that takes nothing", func() bool { return !r.up() })
		r.record.request()
	default:
		r.plug(true)
		if r.conn.Outstanding() <= r.plugged {
			r.calling(r.call)
		}
		r.record.request()
		synctest.Wait()
		r.line.cut()
	}
	r.plugged, r.broken = 0, false
}

// flush lets all requests through, until there is none.
func (r *run) flush() {
	for n := 0; r.line.held() > 0; n++ {
		if n > 1000 {
			r.fail("the requests do not end")
			return
		}
		r.line.pass()
		synctest.Wait()
	}
}

// connect lets the client connect, once.
func (r *run) connect() {
	r.line.admit(1)
	r.await("a connection", r.up)
}

// loseSession has the server end the session, and tell the client.
func (r *run) loseSession() {
	id := r.client.SessionID()
	r.server.ExpireSession(id)
	synctest.Wait()
	r.line.admit(1)
	r.await("the end of the session", func() bool { return r.client.SessionID() == 0 })
	r.record.add(SessionLost)
}
