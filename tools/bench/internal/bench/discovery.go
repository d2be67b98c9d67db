package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

const (
	choicesAtOnce    = 1_000 // choices that are one operation
	chosenFrom       = 10    // instances of the service
	shortTimeout     = 4 * time.Second
	registersAtATime = 32
)

type registry = discovery.ServiceDiscovery[string]

func instance(n int) discovery.ServiceInstance[string] {
	return discovery.ServiceInstance[string]{Name: "orders", ID: fmt.Sprintf("%06d", n), Address: "10.0.0.7", Port: 8080, Payload: "north"}
}

// withRegistry calls fn with a registry that has n instances.
func withRegistry(ctx context.Context, client *framework.Client, path string, n int, fn func(r *registry) (measure.Run, error)) (_ measure.Run, err error) {
	r, err := discovery.NewServiceDiscovery(client, path, discovery.JSON[string]())
	if err == nil {
		err = r.Start(ctx)
	}
	if err != nil {
		return measure.Run{}, err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	registering, working := errgroup.WithContext(ctx) // Close gets ctx, because working ends with the work
	registering.SetLimit(registersAtATime)
	for i := range n {
		registering.Go(func() error {
			_, err := r.Register(working, instance(i))
			return err
		})
	}
	if err := registering.Wait(); err != nil {
		return measure.Run{}, err
	}
	return fn(r)
}

// discoveryRegister lets one client register and unregister an instance repeatedly. An operation is
// both.
func discoveryRegister(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	clients, err := l.ours(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	return withRegistry(ctx, clients[0], path, 1, func(r *registry) (measure.Run, error) {
		i := instance(1)
		return l.cycles(ctx, []lock{reads(func(ctx context.Context) error {
			if _, err := r.Register(ctx, i); err != nil {
				return err
			}
			return r.Unregister(ctx, i.Name, i.ID)
		})}, t)
	})
}

// discoveryChoose lets one client choose from a few instances. An operation is choicesAtOnce choices.
func discoveryChoose(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	clients, err := l.ours(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	return withRegistry(ctx, clients[0], path, chosenFrom, func(r *registry) (_ measure.Run, err error) {
		p, err := r.Provider("orders", discovery.ProviderConfig[string]{})
		if err == nil {
			err = p.Start(ctx)
		}
		if err != nil {
			return measure.Run{}, err
		}
		defer func() { err = errors.Join(err, p.Close(ctx)) }()
		return l.cycles(ctx, []lock{reads(func(context.Context) error {
			for range choicesAtOnce {
				if _, err := p.Instance(); err != nil {
					return err
				}
			}
			return nil
		})}, t)
	})
}

// discoveryQuery lets one client query w.waiters instances. An operation is a query.
func discoveryQuery(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
	clients, err := l.ours(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	return withRegistry(ctx, clients[0], path, w.waiters, func(r *registry) (measure.Run, error) {
		return l.cycles(ctx, []lock{reads(func(ctx context.Context) error {
			instances, err := r.QueryForInstances(ctx, "orders")
			if err == nil && len(instances) != w.waiters {
				err = fmt.Errorf("%d instances of %d", len(instances), w.waiters)
			}
			return err
		})}, t)
	})
}

// discoveryAgain cuts off a client that has registered w.waiters instances until its session has
// expired, and lets it connect again. The operations are the instances, and the time is that from then
// until all are registered again.
func discoveryAgain(ctx context.Context, l *local, w workload, path string, _ timing) (_ measure.Run, err error) {
	if l.name != results.Ours {
		return measure.Run{}, errUnsupported
	}
	line := &gated{dial: l.counter.DialContext}
	client, err := startClient(ctx, l.address, framework.WithDialer(line.DialContext), framework.WithSessionTimeout(shortTimeout))
	if err != nil {
		return measure.Run{}, err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	observer, err := startClient(ctx, l.address)
	if err != nil {
		return measure.Run{}, err
	}
	defer func() { err = errors.Join(err, observer.Close(ctx)) }()
	return withRegistry(ctx, client, path, w.waiters, func(*registry) (measure.Run, error) {
		line.shut()
		if err := awaitChildren(ctx, observer, path+"/orders", 0); err != nil {
			line.open()
			return measure.Run{}, err
		}
		return l.measured(func() (int, []time.Duration, error) {
			begin := time.Now()
			line.open()
			err := awaitChildren(ctx, observer, path+"/orders", w.waiters)
			return w.waiters, []time.Duration{time.Since(begin)}, err
		})
	})
}

// awaitChildren waits until a node has n children. With 0 it also returns if the node does not exist.
func awaitChildren(ctx context.Context, client *framework.Client, path string, n int) error {
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		var stat framework.Stat
		there, err := client.CheckExists().StoringStatIn(&stat).ForPath(ctx, path)
		if err != nil {
			return err
		}
		if !there && n == 0 || there && int(stat.NumChildren) == n {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// gated dials connections. It can refuse to, and close the last one.
type gated struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu     sync.Mutex
	closed bool
	conn   net.Conn // the last connection
}

var errShut = errors.New("the network is shut")

// DialContext connects to a server. It is for framework.WithDialer.
func (g *gated) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if closed {
		return nil, errShut
	}
	conn, err := g.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errors.Join(errShut, conn.Close())
	}
	g.conn = conn
	return conn, nil
}

// cut closes the last connection.
func (g *gated) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conn.Close()
}

// shut closes the last connection, and refuses new ones.
func (g *gated) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.conn.Close()
}

func (g *gated) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = false
}
