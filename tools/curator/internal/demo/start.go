package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-curator/curator/internal/zkserver"
)

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
