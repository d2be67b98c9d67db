// Package demo has a fleet of workers that share locks and an election on an embedded server,
// and a script in which one of them is killed and another one is frozen. It shows hand-overs of
// locks without an installation:
//
//	fleet := demo.New(demo.Options{})
//	if err := fleet.Start(ctx); err != nil {
//		return err
//	}
//	defer fleet.Close(ctx)
//	fmt.Println("look at", fleet.ConnectString())
//	return fleet.Play(ctx)
//
// The workers are goroutines with a client and a session each. A killed worker closes its
// connection and never returns; its session stays at the server until it expires, like the
// session of a process after kill -9. A frozen worker does nothing, and its connection is
// silent in both directions, like that of a process after kill -STOP.
//
// The fleet writes nothing to a disk, and its server accepts every client that reaches its
// address.
//
// All methods of a Fleet may be called from several goroutines.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/retry"
)

// Options of a Fleet. With the zero value Start also starts a server, at a free port of the loopback
// interface.
type Options struct {
	// Connect is the address of a running server. If it is "", Start starts a server.
	Connect string
	// Dial connects to the server. The default is a TCP connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Unit is the unit of the fleet's times. The default is a second. The session timeout is three
	// units, and Play takes about twenty.
	Unit time.Duration
}

// Fleet is a server and its workers. Make one with New.
type Fleet struct {
	unit    time.Duration
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	server  *zkserver.Server // nil if Options.Connect was set
	connect string
	client  *framework.Client // the result of Client
	running sync.WaitGroup    // the server and the workers

	diary diary
	store store

	workers []*worker
	ctx     context.Context // of the workers

	mu     sync.Mutex
	closed bool
}

// New returns a fleet that is not started. It does no I/O.
func New(o Options) *Fleet {
	f := &Fleet{connect: o.Connect, dial: o.Dial, unit: o.Unit, workers: crew()}
	if f.unit <= 0 {
		f.unit = time.Second
	}
	if f.dial == nil {
		f.dial = new(net.Dialer).DialContext
	}
	f.diary.changed, f.diary.grants = make(chan struct{}), map[string]grants{}
	f.store.highest = map[string]int64{}
	return f
}

// units returns n units as a duration.
func (f *Fleet) units(n float64) time.Duration { return time.Duration(n * float64(f.unit)) }

// ConnectString returns the server's address. It is "" before Start.
func (f *Fleet) ConnectString() string { return f.connect }

// Client returns a client that reads the locks of the workers, and is not one of the workers'
// clients. It is nil before Start. Close closes it.
func (f *Fleet) Client() *framework.Client { return f.client }

// newClient returns a client whose times are in the fleet's unit.
func (f *Fleet) newClient(label string, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*framework.Client, error) {
	return framework.NewClient(f.connect, retry.Forever(f.units(0.1)),
		framework.WithSessionTimeout(f.units(3)),
		framework.WithOwnerLabel(label),
		framework.WithDialer(dial),
		framework.WithoutEnsembleTracker(),
		framework.WithLogger(slog.New(slog.DiscardHandler)))
}

func (f *Fleet) connectClient(ctx context.Context, client *framework.Client) error {
	if err := client.Start(ctx); err != nil {
		return err
	}
	return client.BlockUntilConnected(ctx)
}

// closeClient closes a client. It is no error if that takes longer than a unit.
func (f *Fleet) closeClient(ctx context.Context, client *framework.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.units(1))
	defer cancel()
	if err := client.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // the session expires
}

// Start starts the server, unless Options.Connect names one, and the workers. It returns when Client
// is connected. ctx bounds only Start. When Start fails, everything that it has started has ended,
// and the fleet cannot be started again.
func (f *Fleet) Start(ctx context.Context) error {
	if f.connect == "" {
		if err := f.serve(); err != nil {
			return err
		}
	}
	f.ctx = context.WithoutCancel(ctx)
	f.diary.begin()
	client, err := f.newClient("curator demo", f.dial)
	if err == nil {
		f.client = client
		err = f.connectClient(ctx, client)
	}
	if err != nil {
		return errors.Join(err, f.Close(ctx))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.workers {
		f.hire(w)
	}
	return nil
}

// serve starts the server.
func (f *Fleet) serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start the server of the demonstration: %w", err)
	}
	f.connect = listener.Addr().String()
	f.server = zkserver.New(zkserver.Config{TickTime: f.tick()})
	f.running.Go(func() { _ = f.server.Serve(listener) }) // its error says that the server was closed
	return nil
}

// tick returns the tick time of the server.
func (f *Fleet) tick() time.Duration { return f.units(0.25) }

// Close ends the workers and the server, and joins all goroutines. It closes the workers' sessions,
// but waits for that only until ctx ends, and at most a unit.
func (f *Fleet) Close(ctx context.Context) error {
	f.mu.Lock()
	f.closed = true
	var ended []<-chan struct{}
	for _, w := range f.workers {
		w.thaw()
		if w.cancel != nil {
			w.cancel()
			ended = append(ended, w.ended)
		}
	}
	f.mu.Unlock()
	var err error
	if f.client != nil {
		err = f.closeClient(ctx, f.client)
	}
	if f.server != nil {
		f.await(ctx, ended)
		_ = f.server.Close() // its error is always nil
	}
	f.running.Wait()
	return err
}

// await waits until the workers have ended, because their last requests need the server, but at most
// a unit.
func (f *Fleet) await(ctx context.Context, ended []<-chan struct{}) {
	timer := time.NewTimer(f.units(1))
	defer timer.Stop()
	for _, worker := range ended {
		select {
		case <-worker:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
