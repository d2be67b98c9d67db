package tree

import "time"

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
