package curatortest

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/go-curator/curator/internal/jute"
)

// greeted is told of the session that a server has granted.
type greeted func(session jute.ConnectResponse)

// maxGreeting bounds the answer to a handshake.
const maxGreeting = 64

// greeting reads what a server sends to a client, and tells of the session that the first
// message grants, if it grants one.
type greeting struct {
	io.Reader
	tell  greeted // nil when the first message has passed
	first []byte
}

func (g *greeting) Read(b []byte) (int, error) {
	n, err := g.Reader.Read(b)
	if g.tell != nil {
		g.listen(b[:n])
	}
	return n, err
}

// listen looks for the first message in what comes.
func (g *greeting) listen(b []byte) {
	g.first = append(g.first, b[:min(len(b), 4+maxGreeting-len(g.first))]...)
	if len(g.first) < 4 {
		return
	}
	length := binary.BigEndian.Uint32(g.first)
	switch {
	case length > maxGreeting: // no answer to a handshake
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

// granted are the sessions that clients were granted, as the proxies have read them.
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
