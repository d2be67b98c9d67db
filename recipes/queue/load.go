package queue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// errNotInOrder is returned for an answer that was not taken over on the connection's goroutine:
// events that followed it may have been told before it. The lists are then read again.
var errNotInOrder error = &zkconn.TransportError{Err: zkconn.ErrConnectionLoss, Detail: errors.New("the connection ended before the lists were read")}

// listError says whose list a server has refused.
type listError struct {
	dir string // the server's path
	err error
}

func (e *listError) Error() string { return e.err.Error() }

func (e *listError) Unwrap() error { return e.err }

// read reads the names of the items, and of the locks. The requests go out together, but each
// answer is taken over by itself: an event that comes between the two is about a change that the
// first list does not show.
func (l *listing) read(ctx context.Context, conn *zkconn.Conn) error {
	lists := []func() error{readList(ctx, conn, l.dir, l.setItems)}
	if l.locks != "" {
		lists = append(lists, readList(ctx, conn, l.locks, l.setLocks))
	}
	var err error
	for _, wait := range lists {
		err = errors.Join(err, wait())
	}
	return err
}

// readList sends the request for the children of a node, and returns a function that waits until
// set was called with the answer.
func readList(ctx context.Context, conn *zkconn.Conn, dir string, set func(names []string)) (wait func() error) {
	res := &jute.GetChildren2Response{}
	call := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: dir}, Res: res}
	done := make(chan error, 1)
	flight, queued := conn.Start(0, func(f *zkconn.Flight) {
		err := f.Wait(ctx) // returns at once on the connection's goroutine
		if err == nil && call.Err != nil {
			err = &listError{dir, call.Err}
		}
		if err == nil || errors.Is(err, framework.ErrNoNode) {
			set(res.Children)
			err = nil
		}
		done <- notApplied(err)
	}, call)
	return func() error {
		if !queued {
			if err := flight.Wait(ctx); err != nil {
				return notApplied(err)
			}
			return errNotInOrder
		}
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
