package ensemble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/verify/ensemble/verdict"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// pair is a holder of a lock, X, and a client that waits for it, Y.
type pair struct {
	verdict.Pair
	rule    rule
	moves   bool // X may go to another server
	policy  policy
	timeout time.Duration // X's session timeout, scaled
	path    string        // of the lock
	pings   pingWatch     // the pings of X

	x, y    *framework.Client
	held    *locks.Lease // X's
	next    *locks.Lease // Y's
	retries int          // how often Y's Acquire failed and was called again
}

// hold starts X, which acquires the lock.
func (p *pair) hold(ctx context.Context, at places) error {
	dial, release := p.pings.dial, func() {}
	if at.first != nil {
		dial, release = onlyTo(at.first.ConnectString(), dial)
	}
	defer release()
	var err error
	p.x, err = newClient(ctx, p.rule, at.holders, p.timeout, framework.WithErrorPolicy(p.policy.state), framework.WithDialer(dial))
	if err != nil {
		return fmt.Errorf("start a holder: %w", err)
	}
	mutex, err := locks.NewInterProcessMutex(p.x, p.path)
	if err != nil {
		return err
	}
	if p.held, err = mutex.Acquire(ctx); err != nil {
		return fmt.Errorf("acquire %s: %w", p.path, err)
	}
	return nil
}

// join starts Y. Its session timeout is long, because if Y lost its own session it would get the lock
// late, and the pair would prove nothing.
func (p *pair) join(ctx context.Context, servers []*curatortest.Member, timeout time.Duration) (*locks.InterProcessMutex, error) {
	var err error
	p.y, err = newClient(ctx, p.rule, servers, timeout, framework.WithErrorPolicy(state.SessionErrorPolicy()))
	if err != nil {
		return nil, fmt.Errorf("start a waiter: %w", err)
	}
	return locks.NewInterProcessMutex(p.y, p.path)
}

// awaitQueued waits until both clients are in the queue of the lock.
func awaitQueued(ctx context.Context, mutex *locks.InterProcessMutex) error {
	for {
		nodes, err := mutex.ParticipantNodes(ctx)
		if err != nil || len(nodes) == 2 {
			return err
		}
		if err := wait.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// watchHolder records when the context of X's lease ends. It returns then, or when ctx ends. If X may
// move to another server, it then releases the lock: its session and its node still exist, and Y would
// wait forever.
func (p *pair) watchHolder(ctx context.Context, now func() time.Duration) {
	select {
	case <-p.held.Context().Done():
		p.Ended = now()
		if p.moves {
			_ = release(ctx, p.held) // close releases again, and returns the error
		}
	case <-ctx.Done():
	}
}

// watchWaiter lets Y acquire the lock, and records when it has it. It returns then, or when ctx ends.
func (p *pair) watchWaiter(ctx context.Context, mutex *locks.InterProcessMutex, now func() time.Duration) {
	for ctx.Err() == nil {
		lease, err := mutex.Acquire(ctx)
		acquired := now()
		if err == nil {
			p.Acquired, p.next = acquired, lease
			return
		}
		if ctx.Err() == nil { // Y has lost its session, or a server did not answer for too long
			p.retries++
			_ = wait.For(ctx, 20*time.Millisecond) // Acquire returns when ctx has ended
		}
	}
}

// close releases the lock and closes both clients.
func (p *pair) close(ctx context.Context) error {
	var errs []error
	for _, side := range []struct {
		client *framework.Client
		lease  *locks.Lease
	}{{p.x, p.held}, {p.y, p.next}} {
		if side.client == nil {
			continue
		}
		if side.lease != nil {
			errs = append(errs, release(ctx, side.lease))
		}
		realservers.Close(ctx, side.client)
	}
	return errors.Join(errs...)
}

// release releases a lease. It is no failure if the lease was lost, or if the server answers late.
func release(ctx context.Context, lease *locks.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), realservers.CloseTimeout)
	defer cancel()
	err := lease.Release(ctx)
	if errors.Is(err, locks.ErrLockLost) || errors.Is(err, locks.ErrReleasePending) {
		return nil
	}
	return err
}

// policy is an error policy: it decides when a client gives up its leases.
type policy struct {
	name  string
	state state.ErrorPolicy
}

// choosePolicies returns the policies with the given names.
func choosePolicies(names []string) ([]policy, error) {
	var chosen []policy
	for _, name := range names {
		switch name {
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

// newClient starts a client of the given servers and waits for its session.
func newClient(ctx context.Context, r rule, servers []*curatortest.Member, timeout time.Duration, opts ...framework.Option) (*framework.Client, error) {
	var addresses []string
	for _, m := range servers {
		addresses = append(addresses, m.ConnectString())
	}
	policy := retry.BoundedExponentialBackoff(20*time.Millisecond, 200*time.Millisecond, 1000)
	return realservers.Client(startContext(ctx, r), strings.Join(addresses, ","), timeout, policy, opts...)
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
