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

// Options of a Fleet. The zero value is a fleet on a server of its own, at a free port of the
// loopback interface.
type Options struct {
	// Connect is the address of a server that runs already; "" has Start start one.
	Connect string
	// Dial connects to the server; nil is a TCP connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Unit is what the times of the fleet are multiples of; 0 is a second. A session lasts for
	// three units, and Play for about twenty.
	Unit time.Duration
}

// Fleet is a server and its workers. Make one with New.
type Fleet struct {
	unit    time.Duration
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	server  *zkserver.Server // nil if another one runs already
	connect string
	client  *framework.Client // of Client
	running sync.WaitGroup    // the server and the workers

	diary diary
	store store

	workers []*worker
	ctx     context.Context // of the workers

	mu     sync.Mutex
	closed bool
}

// New returns a fleet that is to be started. It does no I/O.
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

// units returns the time of n units.
func (f *Fleet) units(n float64) time.Duration { return time.Duration(n * float64(f.unit)) }

// Start starts the server, if none was named, and the workers. It returns when the fleet can be
// looked at. ctx bounds that, and nothing after it. When Start fails nothing is left, and the
// fleet cannot be started again.
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
	f.running.Go(func() { _ = f.server.Serve(listener) }) // it returns when the server is closed
	return nil
}

// tick is the server's unit of session time.
func (f *Fleet) tick() time.Duration { return f.units(0.25) }

// Close ends the workers and the server, and joins everything that was started. The sessions of
// workers are ended as far as that can be done until ctx ends, or within a unit.
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
		_ = f.server.Close() // it has no error to tell
	}
	f.running.Wait()
	return err
}

// await waits for the workers, whose last requests need the server, for a short time.
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

// ConnectString returns the server's address. It is "" before Start.
func (f *Fleet) ConnectString() string { return f.connect }

// Client returns a client that is none of the workers, to look at their locks with. It is nil
// before Start, and closed by Close.
func (f *Fleet) Client() *framework.Client { return f.client }

// newClient returns a client with the fleet's times.
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

// closeClient ends a session if that is possible within a unit.
func (f *Fleet) closeClient(ctx context.Context, client *framework.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.units(1))
	defer cancel()
	if err := client.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // its session expires
}
