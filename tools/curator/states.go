package main

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/state"
)

// tellStates writes each state of the session, until the function that it returns is
// called.
func (s *session) tellStates() (stop func()) {
	return s.client.ConnectionStateListenable().Add(func(_ context.Context, now state.ConnectionState) {
		switch now {
		case state.Connected, state.Reconnected, state.ReadOnly:
			s.notes.say("session %s: %v to %s, timeout %v", sessionName(s.client.SessionID()), now, s.client.Server(), s.client.SessionTimeout())
		default:
			s.notes.say("session %s: %v", sessionName(s.client.SessionID()), now)
		}
	})
}

// sessionName writes a session as ZooKeeper's logs do.
func sessionName(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
