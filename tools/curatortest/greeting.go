package curatortest

import (
	"encoding/binary"
	"io"

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
