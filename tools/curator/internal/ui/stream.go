package ui

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
)

const (
	maxStreams  = 100
	alivePeriod = 2 * time.Second  // the time after which an event alive is sent if there is no other
	slowest     = 10 * time.Second // the time for writing a frame, after which the stream is closed
)

// streams are the open streams of events.
type streams struct {
	follower *follow.Follower
	room     chan struct{} // has an element for each open stream
}

func newStreams(f *follow.Follower) *streams {
	return &streams{f, make(chan struct{}, maxStreams)}
}

// serve sends the whole state and then the changes, until the browser or the server closes the stream. A
// stream has no time limit, but each of its writes has one.
func (s *streams) serve(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	default:
		return refuse(http.StatusServiceUnavailable, "Too many pages are open.")
	}
	sub := s.follower.Subscribe()
	defer sub.Close()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	control := http.NewResponseController(w)
	// The deadline of the server's ReadTimeout would cancel the request.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	ctx := r.Context()
	for {
		frame, ok, err := sub.Next(ctx, alivePeriod)
		if err != nil {
			return nil // the browser has gone, or the server ends
		}
		if err := send(w, control, frame, ok); err != nil {
			return nil // the browser has gone, or does not read
		}
	}
}

// send writes a frame if there is one, and the time if there is none or it is a whole state. The deadline
// is not cleared afterwards: it is longer than alivePeriod, so the next write replaces it before.
func send(w io.Writer, control *http.ResponseController, frame follow.Frame, ok bool) error {
	if err := control.SetWriteDeadline(time.Now().Add(slowest)); err != nil {
		return err
	}
	if ok {
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", frame.Name, frame.Body); err != nil {
			return err
		}
	}
	if !ok || frame.Name == "state" { // the state, with its time, may be some time old
		if _, err := fmt.Fprintf(w, "event: alive\ndata: {\"now\":%d}\n\n", time.Now().UnixMilli()); err != nil {
			return err
		}
	}
	return control.Flush()
}
