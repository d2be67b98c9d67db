package queue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// listRequest reads the names of the items, and of the locks, in one write.
type listRequest struct {
	list  *listing
	calls []*zkconn.Call
	done  chan error
}

func newListRequest(l *listing) *listRequest {
	r := &listRequest{list: l, done: make(chan error, 1)}
	for _, dir := range []string{l.dir, l.locks} {
		if dir != "" {
			r.calls = append(r.calls, &zkconn.Call{
				Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: dir}, Res: &jute.GetChildren2Response{},
			})
		}
	}
	return r
}

// errNotInOrder is returned for an answer that was not taken on the connection's goroutine: events
// that followed it may have been told before it. The lists are then read again.
var errNotInOrder error = &zkconn.TransportError{Err: zkconn.ErrConnectionLoss, Detail: errors.New("the connection ended before the lists were read")}

// send sends the request and waits until the answer was taken over.
func (r *listRequest) send(ctx context.Context, conn *zkconn.Conn) error {
	// On the connection's goroutine Wait returns at once.
	flight, queued := conn.Start(0, func(f *zkconn.Flight) { r.onReply(f.Wait(ctx)) }, r.calls...)
	if !queued {
		if err := flight.Wait(ctx); err != nil {
			return notApplied(err)
		}
		return errNotInOrder
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onReply takes the answer over.
func (r *listRequest) onReply(err error) {
	var names [2][]string
	for i, call := range r.calls {
		switch {
		case err != nil:
		case errors.Is(call.Err, framework.ErrNoNode):
		case call.Err != nil:
			err = call.Err
		default:
			names[i] = call.Res.(*jute.GetChildren2Response).Children
		}
	}
	if err == nil {
		r.list.set(names[0], names[1])
	}
	r.done <- notApplied(err)
}
