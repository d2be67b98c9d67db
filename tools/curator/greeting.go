package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"
)

const (
	// silence is how long a server may be silent before it is asked what it is.
	silence = 500 * time.Millisecond
	// question is what it is asked. ZooKeeper takes the first four bytes for one of its
	// commands; servers that read lines, as those of HTTP, find one to answer.
	question = "srvr\r\n\r\n"
	// The sizes of ZooKeeper's answer to a handshake, which its first four bytes have.
	minGreeting, maxGreeting = 36, 256
)

// greeting is a connection of which the first bytes that come are looked at.
type greeting struct {
	net.Conn
	first []byte
	done  bool
	came  chan struct{} // closed when first is complete
}

// Read reads.
func (g *greeting) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if !g.done {
		g.first = append(g.first, p[:min(n, 16)]...)
		if len(g.first) >= 4 {
			g.done = true
			close(g.came)
		}
	}
	return n, err
}

// await returns how the server answers that is at the other end, if it is not ZooKeeper.
// A server that is silent is asked on a connection of its own.
func (g *greeting) await(ctx context.Context, address string) string {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	select {
	case <-g.came:
		if size := binary.BigEndian.Uint32(g.first); size < minGreeting || size > maxGreeting {
			return firstWords(g.first)
		}
	case <-timer.C:
		return ask(ctx, address)
	case <-ctx.Done():
	}
	return ""
}

// ask asks a server what it is, and returns how it answers if it is not ZooKeeper.
func ask(ctx context.Context, address string) string {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return ""
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, question); err != nil {
		return ""
	}
	var answer [32]byte
	n, _ := io.ReadAtLeast(conn, answer[:], 4) // what came is what counts
	if bytes.Contains(bytes.ToLower(answer[:n]), []byte("zookeeper")) || bytes.HasPrefix(answer[:n], []byte(question[:4])) {
		return "" // the answer, or that the question is not allowed
	}
	return firstWords(answer[:n])
}

// firstWords shortens an answer to what it says in a line.
func firstWords(answer []byte) string {
	line, _, _ := strings.Cut(string(answer), "\r")
	line, _, _ = strings.Cut(line, "\n")
	return line[:min(len(line), 16)]
}
