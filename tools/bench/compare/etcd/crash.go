package main

import (
	"context"
	"fmt"
	"math"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

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
