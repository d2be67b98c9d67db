// Etcd is the benchmark's peer for the locks of etcd's own client: it runs the workloads of
// the protocol in tools/bench/internal/protocol with concurrency.Mutex, on the server whose
// address is its argument. Its floor puts and deletes a key that is bound to a lease, as the
// lock's are.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

const (
	dialTimeout = 10 * time.Second
	sessionTTL  = 30 // in seconds
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "etcd peer:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	if len(os.Args) != 2 {
		return errors.New("usage: etcd ADDRESS")
	}
	p := &peer{address: os.Args[1]}
	defer func() { err = errors.Join(err, p.close()) }()
	ctx := context.Background()
	if _, err := p.take(ctx, 1); err != nil {
		return err
	}
	return protocol.Serve(ctx, os.Stdin, os.Stdout, map[string]protocol.Workload{
		protocol.Solo:    p.contend,
		protocol.Contend: p.contend,
		protocol.Spread:  p.spread,
		protocol.Drain:   p.drain,
		protocol.Floor:   p.floor,
		protocol.TryFree: p.tryFree,
		protocol.TryBusy: p.tryBusy,
		protocol.Hold:    p.hold,
		protocol.Queued:  p.queued,
		protocol.Wait:    p.wait,
	})
}

// peer keeps the clients, which stay connected between requests.
type peer struct {
	address string
	clients []*client
	holders []*concurrency.Session // of locks that are held until this process ends
}

// client is a connection with a session.
type client struct {
	*clientv3.Client
	session *concurrency.Session
}

// take returns n clients. It connects more if there are fewer.
func (p *peer) take(ctx context.Context, n int) ([]*client, error) {
	for len(p.clients) < n {
		c, err := clientv3.New(clientv3.Config{
			Context:     ctx,
			Endpoints:   []string{p.address},
			DialTimeout: dialTimeout,
		})
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		session, err := concurrency.NewSession(c, concurrency.WithTTL(sessionTTL))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start a session: %w", err), c.Close())
		}
		p.clients = append(p.clients, &client{c, session})
	}
	return p.clients[:n], nil
}

// close ends the sessions and the connections.
func (p *peer) close() error {
	var errs []error
	for _, session := range p.holders {
		errs = append(errs, session.Close())
	}
	for _, c := range p.clients {
		errs = append(errs, c.session.Close(), c.Close())
	}
	return errors.Join(errs...)
}

// repeat lets each client repeat the operation that op returns for it.
func (p *peer) repeat(ctx context.Context, r protocol.Request, op func(i int, c *client) load.Op) (protocol.Result, error) {
	clients, err := p.take(ctx, r.ClientCount())
	if err != nil {
		return protocol.Result{}, err
	}
	var ops []load.Op
	for i, c := range clients {
		ops = append(ops, op(i, c))
	}
	return load.Repeat(ctx, r.Warmup(), r.Duration(), ops...)
}

func (p *peer) contend(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(_ int, c *client) load.Op { return mutex(c.session, r.Path).Op() })
}

func (p *peer) spread(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(i int, c *client) load.Op {
		return mutex(c.session, r.Path+"/"+strconv.Itoa(i)).Op()
	})
}

func (p *peer) floor(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(i int, c *client) load.Op {
		key := r.Path + "/" + strconv.Itoa(i)
		return func(ctx context.Context) error {
			if _, err := c.Put(ctx, key, "", clientv3.WithLease(c.session.Lease())); err != nil {
				return err
			}
			_, err := c.Delete(ctx, key)
			return err
		}
	})
}

// drain gives each waiter its own session, on the connection of its client. For the mutex two waiters
// of one session are the same contender, so both would get the lock.
func (p *peer) drain(ctx context.Context, r protocol.Request) (result protocol.Result, err error) {
	if r.WarmupMS > 0 {
		warmup := r
		warmup.Path, warmup.DurationMS = r.Path+"-warmup", 0
		if _, err := p.contend(ctx, warmup); err != nil {
			return protocol.Result{}, err
		}
	}
	clients, err := p.take(ctx, r.ClientCount())
	if err != nil {
		return protocol.Result{}, err
	}
	var waiters []load.Acquire
	for i := range r.Waiters {
		session, err := concurrency.NewSession(clients[i%len(clients)].Client, concurrency.WithTTL(sessionTTL))
		if err != nil {
			return protocol.Result{}, fmt.Errorf("start a waiter's session: %w", err)
		}
		defer func() { err = errors.Join(err, session.Close()) }()
		waiters = append(waiters, mutex(session, r.Path))
	}
	return load.Drain(ctx, mutex(clients[0].session, r.Path), waiters, clients[0].queue(r.Path))
}

// queue returns a function that counts the holder and the waiters of a lock.
func (c *client) queue(path string) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		answer, err := c.Get(ctx, path+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			return 0, err
		}
		return int(answer.Count), nil
	}
}

// mutex returns a lock for a session.
func mutex(s *concurrency.Session, path string) load.Acquire {
	m := concurrency.NewMutex(s, path)
	return func(ctx context.Context) (load.Op, error) { return m.Unlock, m.Lock(ctx) }
}

// tryFree acquires a free lock with TryLock.
func (p *peer) tryFree(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(_ int, c *client) load.Op { return try(c.session, r.Path).Op(true) })
}

func (p *peer) tryBusy(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	clients, err := p.take(ctx, 2)
	if err != nil {
		return protocol.Result{}, err
	}
	return load.RepeatBusy(ctx, r.Warmup(), r.Duration(), mutex(clients[1].session, r.Path), try(clients[0].session, r.Path))
}

// try returns a lock that is acquired without waiting.
func try(s *concurrency.Session, path string) load.Try {
	m := concurrency.NewMutex(s, path)
	return func(ctx context.Context) (load.Op, error) {
		switch err := m.TryLock(ctx); {
		case errors.Is(err, concurrency.ErrLocked):
			return nil, load.ErrBusy
		case err != nil:
			return nil, err
		}
		return m.Unlock, nil
	}
}

// hold acquires a lock with a session that expires after this process has ended. The TTL of its lease
// is in whole seconds.
func (p *peer) hold(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	clients, err := p.take(ctx, 1)
	if err != nil {
		return protocol.Result{}, err
	}
	ttl := int(math.Ceil(r.Timeout().Seconds()))
	session, err := concurrency.NewSession(clients[0].Client, concurrency.WithTTL(ttl))
	if err != nil {
		return protocol.Result{}, fmt.Errorf("start the holder's session: %w", err)
	}
	p.holders = append(p.holders, session)
	_, err = mutex(session, r.Path)(ctx)
	return protocol.Result{Operations: 1}, err
}

// queued returns when somebody waits behind the holder.
func (p *peer) queued(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	clients, err := p.take(ctx, 1)
	if err != nil {
		return protocol.Result{}, err
	}
	return protocol.Result{}, load.AwaitQueue(ctx, 2, clients[0].queue(r.Path))
}

// wait waits for the lock.
func (p *peer) wait(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	clients, err := p.take(ctx, 1)
	if err != nil {
		return protocol.Result{}, err
	}
	return load.Wait(ctx, mutex(clients[0].session, r.Path))
}
