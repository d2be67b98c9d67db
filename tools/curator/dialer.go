package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// dialer connects to the servers of an ensemble and notes of which of them it is no use to
// try again, so that nobody waits long for a first connection that cannot be.
type dialer struct {
	servers  []string
	embedded *embedded // nil without --embedded

	mu      sync.Mutex
	reasons map[string]error // by server: why it is no use
	giveUp  context.CancelCauseFunc
}

// hopeless is the cause for which a first connection is given up.
type hopeless struct{ reasons []string }

// Error returns the reasons, with what to do.
func (h *hopeless) Error() string {
	text := strings.Join(h.reasons, "; ") + "; name the ensemble with --connect HOSTS or " + envConnect
	if slices.ContainsFunc(h.reasons, func(reason string) bool { return strings.HasPrefix(reason, nothingListens) }) {
		text += ", or use --embedded, a development server"
	}
	return text
}

const nothingListens = "nothing listens at"

// whileConnecting returns a context that ends when every server is hopeless.
func (d *dialer) whileConnecting(ctx context.Context) (_ context.Context, connected func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.giveUp = cancel
	return ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.giveUp = nil
		cancel(nil)
	}
}

// dial is for framework.WithDialer.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dial := new(net.Dialer).DialContext
	if d.embedded != nil {
		dial = d.embedded.dial
	}
	conn, err := dial(ctx, network, address)
	var unknown *net.DNSError
	switch {
	case err == nil:
		return &greeting{Conn: conn, judge: func(first []byte) { d.note(address, notZooKeeper(address, first)) }}, nil
	case errors.Is(err, syscall.ECONNREFUSED):
		d.note(address, fmt.Errorf("%s %s", nothingListens, address))
	case errors.As(err, &unknown) && !unknown.IsTimeout:
		d.note(address, fmt.Errorf("the host of %s is unknown", address))
	case errors.Is(err, errCannotServe):
		d.note(address, err)
	default:
		d.note(address, nil)
	}
	return nil, err
}

// note keeps what an attempt has shown; nil is a failure that may pass, or none.
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
	var cause hopeless
	for _, server := range d.servers {
		if reason := d.reasons[server]; reason != nil {
			cause.reasons = append(cause.reasons, reason.Error())
		}
	}
	d.giveUp(&cause)
}

// The sizes of ZooKeeper's answer to a handshake, which its first four bytes have.
const minGreeting, maxGreeting = 36, 256

// notZooKeeper returns an error if first cannot be the beginning of an answer of ZooKeeper.
func notZooKeeper(address string, first []byte) error {
	if size := binary.BigEndian.Uint32(first); size >= minGreeting && size <= maxGreeting {
		return nil
	}
	return fmt.Errorf("%s is no ZooKeeper server, it answers %.16q", address, first)
}

// greeting is a connection of which judge is told how the answers begin.
type greeting struct {
	net.Conn
	first []byte
	judge func(first []byte) // nil when it has been told
}

// Read reads.
func (g *greeting) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.judge != nil {
		g.first = append(g.first, p[:n]...)
		if len(g.first) >= 4 {
			g.judge(g.first)
			g.first, g.judge = nil, nil
		}
	}
	return n, err
}
