package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-curator/curator/internal/zkserver"
)

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
