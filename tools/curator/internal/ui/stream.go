package ui

import (
	"fmt"
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

// serve sends the whole state and then the changes, until the browser or the server closes the stream.
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
	ctx := r.Context()
	for {
		frame, ok, err := sub.Next(ctx, alivePeriod)
		if err != nil {
			return nil // the browser has gone, or the server ends
		}
		if err := control.SetWriteDeadline(time.Now().Add(slowest)); err != nil {
			return nil
		}
		if ok {
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", frame.Name, frame.Body); err != nil {
				return nil
			}
		}
		if !ok || frame.Name == "state" { // the state, with its time, may be some time old
			if _, err := fmt.Fprintf(w, "event: alive\ndata: {\"now\":%d}\n\n", time.Now().UnixMilli()); err != nil {
				return nil
			}
		}
		if err := control.Flush(); err != nil {
			return nil
		}
	}
}
