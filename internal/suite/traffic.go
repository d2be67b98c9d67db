package suite

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/tools/curatortest"
)

// Traffic counts what a client sends and is told, except what keeps and proves its session.
type Traffic struct {
	mu     sync.Mutex
	counts map[string]int // of requests by their names, of writes, of events
	in     []byte         // the rest of a frame
	opened bool           // the handshake's answer has come
}

// Tapped returns a client whose traffic is counted.
func Tapped(t *testing.T, s *curatortest.Server, opts ...framework.Option) (*framework.Client, *Traffic) {
	t.Helper()
	tr := &Traffic{counts: map[string]int{}}
	return s.Client(t, append(opts, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := s.DialContext(ctx, network, address)
		return tappedConn{c, tr}, err
	}))...), tr
}

// Take returns what there was since the last call, in order: "create2=1 events=2".
func (tr *Traffic) Take() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(tr.counts)) {
		all = append(all, fmt.Sprintf("%s=%d", name, tr.counts[name]))
	}
	clear(tr.counts)
	return strings.Join(all, " ")
}

type tappedConn struct {
	net.Conn
	tr *Traffic
}

func (c tappedConn) Write(p []byte) (int, error) {
	c.tr.mu.Lock()
	wrote := false
	for rest := p; len(rest) >= 12; rest = rest[4+binary.BigEndian.Uint32(rest):] {
		frame := rest[:4+binary.BigEndian.Uint32(rest)]
		if ofSession(frame) {
			continue
		}
		c.tr.counts[jute.OpName(jute.Op(binary.BigEndian.Uint32(frame[8:])))]++
		wrote = true
	}
	if wrote {
		c.tr.counts["writes"]++
	}
	c.tr.mu.Unlock()
	return c.Conn.Write(p)
}

// ofSession reports whether a frame is a request that keeps or proves the session: a ping, a sync
// of the root, or the transaction of a proof.
func ofSession(frame []byte) bool {
	body := frame[12:]
	switch jute.Op(binary.BigEndian.Uint32(frame[8:])) {
	case jute.OpPing:
		return true
	case jute.OpSync:
		return binary.BigEndian.Uint32(body) == uint32(len("/"))
	case jute.OpMulti:
		return isProof(frame)
	}
	return false
}

// isProof reports whether a frame is the transaction that proves a session: it checks the root, and nothing
// else. When it comes depends on the time that a test takes.
func isProof(frame []byte) bool {
	begin, end := jute.MultiHeader{Type: jute.OpCheck, Err: -1}, jute.MultiHeader{Type: -1, Done: true, Err: -1}
	check := jute.CheckVersionRequest{Path: "/", Version: -1}
	return jute.Op(binary.BigEndian.Uint32(frame[8:])) == jute.OpMulti &&
		bytes.Equal(frame[12:], end.Append(check.Append(begin.Append(nil))))
}

func (c tappedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.tr.mu.Lock()
	defer c.tr.mu.Unlock()
	c.tr.in = append(c.tr.in, p[:n]...)
	for len(c.tr.in) >= 8 {
		size := 4 + int(binary.BigEndian.Uint32(c.tr.in))
		if len(c.tr.in) < size {
			break
		}
		if c.tr.opened && int32(binary.BigEndian.Uint32(c.tr.in[4:])) == jute.XidNotification {
			c.tr.counts["events"]++
		}
		c.tr.opened = true
		c.tr.in = c.tr.in[size:]
	}
	return n, err
}
