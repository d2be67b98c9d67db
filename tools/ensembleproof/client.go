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

// policy is an error policy: it decides when a client gives up its leases.
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
			return nil, fmt.Errorf("-policies: there is no policy %q", name)
		}
	}
	return chosen, nil
}

// newClient starts a client of the given servers and waits for its session. It is an error if the
// servers grant another timeout, because the results of the pair would be in the wrong row.
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
		err = fmt.Errorf("the servers grant a session timeout of %v, not %v", granted, timeout)
	}
	if err != nil {
		closeClient(ctx, client)
		return nil, err
	}
	return client, nil
}

// closeTimeout bounds the Close of a client.
const closeTimeout = 10 * time.Second

// closeClient closes a client, also if ctx has ended. It is no failure if the session cannot be
// closed: after the faults of this program many sessions have expired.
func closeClient(ctx context.Context, client *framework.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = client.Close(ctx)
}

// pingWatch receives a value for each answer to a ping of a client.
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

// onlyTo returns a dial function that connects only to one server until release is called.
func onlyTo(server string, dial dialFunc) (restricted dialFunc, release func()) {
	var released atomic.Bool
	restricted = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !released.Load() && address != server {
			return nil, fmt.Errorf("connections to %s are not permitted yet", address)
		}
		return dial(ctx, network, address)
	}
	return restricted, func() { released.Store(true) }
}

// await waits for the next answer to a ping. It is an error if there is none within patience, in which
// there should be several.
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

// pingConn is a connection that reports each answer to a ping that is read from it.
type pingConn struct {
	net.Conn
	watch pingWatch
}

// Read reads from the connection. It sees the answer to a ping only at the beginning of the data that
// it reads. If it misses one, it sees a later one.
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
