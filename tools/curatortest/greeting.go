package curatortest

import (
	"encoding/binary"
	"net"
	"sync"

	"github.com/go-curator/curator/internal/jute"
)

// maxGreeting bounds the length of a connect response.
const maxGreeting = 64

// greeting is a connection to a server. It calls tell with the session if the server's first message
// grants one.
type greeting struct {
	net.Conn
	tell  func(session jute.ConnectResponse) // nil after the first message
	first []byte
}

func (g *greeting) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if g.tell != nil {
		g.listen(b[:n])
	}
	return n, err
}

// listen collects bytes until the first message is complete.
func (g *greeting) listen(b []byte) {
	g.first = append(g.first, b[:min(len(b), 4+maxGreeting-len(g.first))]...)
	if len(g.first) < 4 {
		return
	}
	length := binary.BigEndian.Uint32(g.first)
	switch {
	case length > maxGreeting: // not a connect response
	case len(g.first) < 4+int(length):
		return
	default:
		var session jute.ConnectResponse
		if session.Decode(jute.NewDecoder(g.first[4:])); session.SessionID != 0 && len(session.Passwd) > 0 {
			g.tell(session)
		}
	}
	g.tell, g.first = nil, nil
}

// granted has the sessions that servers have granted. The proxies read them from the connect
// responses.
type granted struct {
	mu       sync.Mutex
	sessions map[int64]jute.ConnectResponse
}

func (g *granted) add(session jute.ConnectResponse) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sessions == nil {
		g.sessions = map[int64]jute.ConnectResponse{}
	}
	g.sessions[session.SessionID] = session
}

func (g *granted) get(id int64) (jute.ConnectResponse, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	session, ok := g.sessions[id]
	return session, ok
}
