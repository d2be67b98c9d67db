package main

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/state"
)

// tellStates logs each connection state until stop is called.
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

// sessionName returns the id of a session, or a zxid, in the form of ZooKeeper's logs.
func sessionName(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
