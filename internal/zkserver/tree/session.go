package tree

import (
	"slices"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// Client is a connection of a client, as far as a State knows it.
type Client struct {
	Session    *Session  // whose requests these are; Do needs one
	Identities []jute.ID // the identities that the client has proven

	// Notify is called for each watch event, in order, before the call returns that causes
	// it, with the zxid that the event has: -1 for none. It must not call the State. It must not be nil
	// when the client sets a watch.
	Notify func(event int32, path string, zxid int64)
}

// Identify adds an identity that the client has proven.
func (c *Client) Identify(id jute.ID) {
	if !slices.Contains(c.Identities, id) {
		c.Identities = append(c.Identities, id)
	}
}

// Session is a client's session.
type Session struct {
	id         int64
	password   []byte
	granted    time.Duration // the timeout when it was created: a restart returns to it
	timeout    time.Duration // the timeout of its last connection
	expires    int64         // the tick at which it ends
	ephemerals map[string]struct{}
}

// ID returns the session's id.
func (s *Session) ID() int64 { return s.id }

// Password returns the session's password, which the caller must not change.
func (s *Session) Password() []byte { return s.password }

// Timeout returns the session's timeout: that of its last connection.
func (s *Session) Timeout() time.Duration { return s.timeout }
