package main

import (
	"context"
	"errors"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

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
