package demo

import (
	"context"
	"errors"
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
