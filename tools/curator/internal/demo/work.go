package demo

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
)

// hire starts a process for a worker, unless the fleet is closed. The caller holds f.mu.
func (f *Fleet) hire(w *worker) bool {
	if f.closed {
		return false
	}
	ctx, cancel := context.WithCancel(f.ctx)
	link, ended := newLink(f.dial), make(chan struct{})
	w.link, w.cancel, w.ended, w.killed = link, cancel, ended, false
	f.running.Go(func() {
		defer close(ended)
		defer cancel()
		f.work(ctx, w, link)
	})
	return true
}

// work runs a process of a worker until ctx ends.
func (f *Fleet) work(ctx context.Context, w *worker, link *link) {
	client, err := f.newClient(w.name, link.Dial)
	if err != nil {
		return // impossible: Start has created a client with the same options
	}
	defer f.closeClient(ctx, client) //nolint:errcheck // after an error the session expires
	if wait.For(ctx, f.units(w.job.begin)) != nil || f.connectClient(ctx, client) != nil {
		return
	}
	t, err := w.job.take(ctx, w, client)
	if err != nil {
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.units(0.5))
		defer cancel()
		_ = t.close(ctx) // its node is deleted at the end of the session
	}()
	for ctx.Err() == nil {
		lease, err := t.acquire(ctx)
		if err == nil {
			f.hold(ctx, w, link, lease)
		}
		if wait.For(ctx, f.units(w.job.rest)) != nil {
			return
		}
	}
}

// hold is one hold of a worker: it works for some time under the lease, writes to the store, and
// releases the lease.
func (f *Fleet) hold(ctx context.Context, w *worker, link *link, lease *locks.Lease) {
	token := lease.Token()
	if !w.job.reads {
		f.store.write(w.job.path, token) // the store must have seen this token before a late write with a lower one
	}
	f.diary.add(Event{Kind: Took, Worker: w.name, Path: w.job.path, Token: token})
	var done <-chan time.Time
	if w.job.hold > 0 {
		timer := time.NewTimer(f.units(w.job.hold))
		defer timer.Stop()
		done = timer.C
	}
	select {
	case <-done:
	case <-lease.Context().Done():
	case <-ctx.Done():
	}
	if !link.gate.Pass(link.gone) || ctx.Err() != nil {
		return // the worker was killed, or the fleet is closed
	}
	if !w.job.reads {
		if highest := f.store.write(w.job.path, token); highest > token {
			f.diary.add(Event{Kind: Refused, Worker: w.name, Path: w.job.path, Token: token, Higher: highest})
		}
	}
	if err := lease.Release(ctx); errors.Is(err, locks.ErrLockLost) && ctx.Err() == nil {
		f.diary.add(Event{Kind: Lost, Worker: w.name, Path: w.job.path})
	}
}
