package sequences_test

import (
	"errors"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
)

// record has what the session layer has told one of its users, and what users have done, in order.
type record struct {
	conn  *zkconn.Conn
	watch *zkconn.Subscription // which the caller subscribes
	// lost is called when a request of the record has failed with its connection, before anything else is
	// told. It returns what is wrong then, or "".
	lost func() string

	mu    sync.Mutex
	told  []Step
	wrong []string
}

// observe begins the record.
func (r *record) observe(conn *zkconn.Conn) {
	r.conn = conn
	conn.Observe(func(e zkconn.EventType) {
		switch e {
		case zkconn.WatchSuspended:
			r.add(Suspended)
		case zkconn.WatchReset:
			r.add(Connected)
		case zkconn.WatchClosed:
			r.add(ClientClosed)
		}
	})
	r.watch = zkconn.NewSubscription("/record", true, func(e zkconn.WatchEvent) {
		switch {
		case e.Type == zkconn.WatchReset:
			r.add(WatchReset)
		case e.Type < zkconn.WatchReset:
			r.add(Event)
		}
	})
}

func (r *record) add(s Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, s)
}

// all returns what was told, and what was wrong.
func (r *record) all() (told []Step, wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told), slices.Clone(r.wrong)
}

// request sends a request, the end of which is told. It does not wait.
func (r *record) request() {
	if f, queued := r.conn.Start(0, r.ended, zkconn.Exists("/", nil)); !queued {
		r.ended(f)
	}
}

// ended takes the end of a request.
func (r *record) ended(f *zkconn.Flight) {
	failure, failed := errors.AsType[*zkconn.TransportError](f.Result())
	switch {
	case !failed:
		r.add(ReplyOK)
		return
	case !errors.Is(failure.Err, zkconn.ErrConnectionLoss):
		return // the client is closed
	case failure.Sent:
		r.add(ReplyLost)
	default:
		r.add(ReplyUnsent)
	}
	if r.lost == nil {
		return
	}
	if wrong := r.lost(); wrong != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wrong = append(r.wrong, wrong)
	}
}
