package settings

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// dialer connects to the servers of an ensemble. It notes for which servers another attempt is
// hopeless, so that a command does not wait for a first connection that is impossible.
type dialer struct {
	servers []string
	server  Server
	opaque  bool // connections are encrypted, so their first bytes do not identify the server

	mu      sync.Mutex
	reasons map[string]error // by server: why another attempt is hopeless
	first   context.Context  // ends with the first connection, or when all servers are hopeless
	giveUp  context.CancelCauseFunc
	probes  sync.WaitGroup
}

// hopeless is why the wait for a first connection was given up.
type hopeless struct {
	reasons []string
	embeds  bool // as in Server
}

// Error returns the reasons, and says what the user can do.
func (h *hopeless) Error() string {
	text := strings.Join(h.reasons, "; ") + "; name the ensemble with --connect HOSTS or " + EnvConnect
	if slices.ContainsFunc(h.reasons, func(reason string) bool { return strings.HasPrefix(reason, nothingListens) }) {
		if h.embeds {
			return text + ", or start a development server with --embedded"
		}
		return text + ", or start a development server with curator server"
	}
	return text
}

const nothingListens = "nothing listens at"

// whileConnecting returns a context that ends when every server is hopeless. The caller must call
// connected when there is a connection, or when it stops waiting for one.
func (d *dialer) whileConnecting(ctx context.Context) (_ context.Context, connected func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first, d.giveUp = ctx, cancel
	return ctx, func() {
		d.mu.Lock()
		d.first, d.giveUp = nil, nil
		d.mu.Unlock()
		cancel(nil)
		d.probes.Wait()
	}
}

// dial connects to a server, and notes what a failure shows.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dial := new(net.Dialer).DialContext
	if d.server.Dial != nil {
		dial = d.server.Dial
	}
	conn, err := dial(ctx, network, address)
	var unknown *net.DNSError
	switch {
	case err == nil:
		return d.watch(conn, address), nil
	case errors.Is(err, syscall.ECONNREFUSED):
		d.note(address, fmt.Errorf("%s %s", nothingListens, address))
	case errors.As(err, &unknown) && !unknown.IsTimeout:
		d.note(address, fmt.Errorf("the host name in %s is unknown", address))
	case errors.Is(err, ErrCannotServe):
		d.note(address, err)
	default:
		d.note(address, nil)
	}
	return nil, err
}

// watch checks, until there is a first connection, whether the first bytes that a server sends are
// ZooKeeper's.
func (d *dialer) watch(conn net.Conn, address string) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first == nil || d.opaque {
		return conn
	}
	ctx := d.first
	g := &greeting{Conn: conn, came: make(chan struct{})}
	d.probes.Go(func() {
		if answer := g.await(ctx, address); answer != "" {
			d.note(address, fmt.Errorf("%s is not a ZooKeeper server: it answers %q", address, answer))
			conn.Close() // the client then tries the next server
		}
	})
	return g
}

// note keeps why another attempt to connect to a server is hopeless. A nil err is a failure that
// another attempt may not have.
func (d *dialer) note(address string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.giveUp == nil {
		return
	}
	if err == nil {
		delete(d.reasons, address)
		return
	}
	if d.reasons == nil {
		d.reasons = map[string]error{}
	}
	d.reasons[address] = err
	if len(d.reasons) < len(d.servers) {
		return
	}
	cause := hopeless{embeds: d.server.Embeds}
	for _, server := range d.servers {
		if reason := d.reasons[server]; reason != nil {
			cause.reasons = append(cause.reasons, reason.Error())
		}
	}
	d.giveUp(&cause)
}

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
