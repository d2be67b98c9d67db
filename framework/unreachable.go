package framework

import (
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// unreachablePause is the least time between two lines in the log that say that the ensemble cannot be
// reached.
const unreachablePause = 10 * time.Second

// outage describes the attempts to connect since the last one that succeeded. Only the session layer's
// goroutine uses it.
type outage struct {
	since   time.Time // of the first that failed; zero for none
	servers []string  // that were tried
	logged  time.Time // the last line; it outlives the outage
	told    bool      // there was a line
}

// attempted notes an attempt. It returns the attributes of a line that is due: that the ensemble
// cannot be reached, or that this is over.
func (o *outage) attempted(e zkconn.Event, now time.Time) (down, over []any) {
	if e.Err == nil {
		if o.told {
			over = []any{"server", e.Target, "after", now.Sub(o.since)}
		}
		*o = outage{logged: o.logged}
		return nil, over
	}
	if errors.Is(e.Err, zkconn.ErrSessionExpired) {
		return nil, nil // a server said so: it was reached, and the next attempt gets a new session
	}
	if o.since.IsZero() {
		o.since = now
	}
	if !slices.Contains(o.servers, e.Target) {
		o.servers = append(o.servers, e.Target)
	}
	// Before all servers were tried one of them may be well.
	if due := e.Round || now.Sub(o.since) >= unreachablePause; !due || now.Sub(o.logged) < unreachablePause {
		return nil, nil
	}
	o.logged, o.told = now, true
	return []any{
		"servers", slices.Clone(o.servers), "for", now.Sub(o.since),
		"server", e.Target, "error", e.Err,
	}, nil
}
