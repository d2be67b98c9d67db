package curatortest

import (
	"errors"
	"fmt"
	"net"
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
