package curatortest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// takeoverTimeout bounds the time in which one server must close a session.
const takeoverTimeout = 5 * time.Second

// closeSession resumes a session on a connection to this server, and closes the session.
func (m *Member) closeSession(session jute.ConnectResponse) error {
	c, err := m.dialRaw(jute.ConnectRequest{TimeOut: session.TimeOut, SessionID: session.SessionID, Passwd: session.Passwd})
	if err != nil {
		return err
	}
	defer c.Conn.Close()
	reply, err := c.Do(jute.OpClose, nil)
	if err == nil && reply.Err != jute.CodeOK {
		err = fmt.Errorf("closeSession: code %d", reply.Err)
	}
	return err
}

// dialRaw connects to the server itself, without its proxy.
func (m *Member) dialRaw(req jute.ConnectRequest) (*rawclient.Client, error) {
	conn, err := net.DialTimeout("tcp", m.setup.address(), takeoverTimeout)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(takeoverTimeout)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return rawclient.Connect(conn, req)
}

// SessionIDs returns the ids of the sessions that the ensemble knows, in ascending order, including sessions
// without a connection; local sessions, of servers with WithReadOnlyMode, are not among them. See
// [Server.SessionIDs]. The leader, or the only server, is asked for it by the word dump. The test fails if it
// does not answer within some seconds.
func (e *Ensemble) SessionIDs() []int64 {
	e.tb.Helper()
	var err error
	for begin := time.Now(); time.Since(begin) < takeoverTimeout; <-time.After(askInterval) {
		for _, m := range e.members {
			if mode := m.Mode(); mode != "leader" && mode != "standalone" {
				continue
			}
			var ids []int64
			if ids, err = m.sessionIDs(); err == nil {
				return ids
			}
		}
	}
	e.tb.Fatalf("session ids: no leader answers: %v", err)
	return nil
}

// askInterval is the time between two questions for a leader.
const askInterval = 50 * time.Millisecond

// sessionIDs asks a leader, or the only server.
func (m *Member) sessionIDs() ([]int64, error) {
	conn, err := net.DialTimeout("tcp", m.setup.address(), time.Second)
	if err != nil {
		return nil, err
	}
	text, err := askWord(conn, "dump")
	if err != nil {
		return nil, err
	}
	return dumped(text)
}

// dumped returns the sessions in the answer to dump. It begins with the tracker's sessions, by the time of their
// end, each on a line behind tabs; the sessions that have ephemeral nodes come again behind that.
func dumped(text string) (ids []int64, err error) {
	_, text, ok := strings.Cut(text, "Session Sets (")
	if !ok {
		return nil, fmt.Errorf("dump: %q", text)
	}
	text, _, _ = strings.Cut(text, "ephemeral nodes dump")
	for line := range strings.Lines(text) {
		hex, ok := strings.CutPrefix(strings.TrimSpace(line), "0x")
		if !ok {
			continue
		}
		id, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("dump: %w", err)
		}
		ids = append(ids, int64(id))
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
