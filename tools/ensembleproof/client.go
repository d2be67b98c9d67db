package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// policy is when a client gives its leases up.
type policy struct {
	name  string
	state state.ErrorPolicy
}

// choosePolicies returns the policies with the given names, separated by commas.
func choosePolicies(names string) ([]policy, error) {
	var chosen []policy
	for name := range strings.SplitSeq(names, ",") {
		switch name = strings.TrimSpace(name); name {
		case "session":
			chosen = append(chosen, policy{name, state.SessionErrorPolicy()})
		case "standard":
			chosen = append(chosen, policy{name, state.StandardErrorPolicy()})
		default:
			return nil, fmt.Errorf("-policies: there is no %q", name)
		}
	}
	return chosen, nil
}

// newClient starts a client of the given servers and waits for its session. A timeout that is
// not granted is an error, because the pair would not be what it is taken for.
func newClient(ctx context.Context, r rule, servers []*curatortest.Member, timeout time.Duration, opts ...framework.Option) (*framework.Client, error) {
	var addresses []string
	for _, m := range servers {
		addresses = append(addresses, m.ConnectString())
	}
	client, err := framework.NewClient(strings.Join(addresses, ","), retry.BoundedExponentialBackoff(20*time.Millisecond, 200*time.Millisecond, 1000),
		append([]framework.Option{
			framework.WithoutEnsembleTracker(),
			framework.WithoutTracing(),
			framework.WithLogger(slog.New(slog.DiscardHandler)),
			framework.WithSessionTimeout(timeout),
		}, opts...)...)
	if err != nil {
		return nil, err
	}
	err = client.Start(startContext(ctx, r))
	if err == nil {
		err = client.BlockUntilConnected(ctx)
	}
	if granted := client.SessionTimeout(); err == nil && granted != timeout {
		err = fmt.Errorf("a session of %v, and %v was asked for", granted, timeout)
	}
	if err != nil {
		closeClient(ctx, client)
		return nil, err
	}
	return client, nil
}

// closeTimeout bounds how long the end of a client may take.
const closeTimeout = 10 * time.Second

// closeClient ends a client, also if ctx has ended. That its session could not be closed is no
// failure: after the faults of this program many are over.
func closeClient(ctx context.Context, client *framework.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = client.Close(ctx)
}

// pingWatch tells of the answers to the pings of a client.
type pingWatch chan struct{}

// dial connects as net.Dialer does. It fits framework.WithDialer.
func (w pingWatch) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return pingConn{conn, w}, nil
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// onlyTo has dial refuse all servers but one, until release is called.
func onlyTo(server string, dial dialFunc) (restricted dialFunc, release func()) {
	var released atomic.Bool
	restricted = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !released.Load() && address != server {
			return nil, fmt.Errorf("not to %s yet", address)
		}
		return dial(ctx, network, address)
	}
	return restricted, func() { released.Store(true) }
}

// await waits for the answer to a ping that comes from now on. It is an error if none comes for a
// time in which several should.
func (w pingWatch) await(ctx context.Context, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w:
		return nil
	case <-timer.C:
		return fmt.Errorf("no ping of a holder was answered in %v", patience)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pingConn is a connection that tells when the answer to a ping has been read.
type pingConn struct {
	net.Conn
	watch pingWatch
}

// Read reads from the connection. A ping whose answer does not come first in what is read goes
// unseen: the next one will do.
func (c pingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n >= 8 && int32(binary.BigEndian.Uint32(b[4:8])) == jute.XidPing {
		select {
		case c.watch <- struct{}{}:
		default:
		}
	}
	return n, err
}
