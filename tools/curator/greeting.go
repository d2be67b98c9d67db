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
	// silence is how long a server may send nothing before it is probed.
	silence = 500 * time.Millisecond
	// question is the probe. For ZooKeeper its first four bytes are a command. A server of a
	// protocol with lines, such as HTTP, answers the first line.
	question = "srvr\r\n\r\n"
	// minGreeting and maxGreeting bound the length of ZooKeeper's connect response. Its first four
	// bytes are the length.
	minGreeting, maxGreeting = 36, 256
)

// greeting is a connection that keeps the first bytes that the server sends.
type greeting struct {
	net.Conn
	first []byte
	done  bool
	came  chan struct{} // closed when first has four bytes or more
}

// Read reads from the connection, and keeps the first bytes.
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

// await returns the beginning of the server's answer if the server is not ZooKeeper, otherwise "".
// It probes a silent server on another connection.
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

// ask probes a server, and returns the beginning of its answer if it is not ZooKeeper, otherwise
// "".
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
	n, _ := io.ReadAtLeast(conn, answer[:], 4) // a shorter answer is an answer, too
	if bytes.Contains(bytes.ToLower(answer[:n]), []byte("zookeeper")) || bytes.HasPrefix(answer[:n], []byte(question[:4])) {
		return "" // ZooKeeper's answer, which may be that srvr is not in the whitelist
	}
	return firstWords(answer[:n])
}

// firstWords returns the beginning of the first line of an answer.
func firstWords(answer []byte) string {
	line, _, _ := strings.Cut(string(answer), "\r")
	line, _, _ = strings.Cut(line, "\n")
	return line[:min(len(line), 16)]
}
