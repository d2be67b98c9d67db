package main

import (
	"context"
	"math/rand/v2"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// repeat lets each client repeat the operation that op returns for it.
func (p *peer) repeat(ctx context.Context, r protocol.Request, op func(i int, c *pgx.Conn) (load.Op, error)) (protocol.Result, error) {
	clients, err := p.take(ctx, r.ClientCount())
	if err != nil {
		return protocol.Result{}, err
	}
	var ops []load.Op
	for i, c := range clients {
		made, err := op(i, c)
		if err != nil {
			return protocol.Result{}, err
		}
		ops = append(ops, made)
	}
	return load.Repeat(ctx, r.Warmup(), r.Duration(), ops...)
}

// locked is repeat for locks. name returns the name of the lock of each client.
func (p *peer) locked(ctx context.Context, r protocol.Request, name func(i int) string) (protocol.Result, error) {
	return p.repeat(ctx, r, func(i int, c *pgx.Conn) (load.Op, error) {
		acquire, _, err := p.kind.lock(ctx, c, name(i))
		return acquire.Op(), err
	})
}

func (p *peer) contend(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.locked(ctx, r, func(int) string { return r.Path })
}

func (p *peer) spread(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.locked(ctx, r, func(i int) string { return r.Path + "/" + strconv.Itoa(i) })
}

func (p *peer) tryFree(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(_ int, c *pgx.Conn) (load.Op, error) {
		_, try, err := p.kind.lock(ctx, c, r.Path)
		return try.Op(true), err
	})
}

func (p *peer) tryBusy(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	clients, err := p.take(ctx, 2)
	if err != nil {
		return protocol.Result{}, err
	}
	holder, _, err := p.kind.lock(ctx, clients[1], r.Path)
	if err != nil {
		return protocol.Result{}, err
	}
	_, try, err := p.kind.lock(ctx, clients[0], r.Path)
	if err != nil {
		return protocol.Result{}, err
	}
	return load.RepeatBusy(ctx, r.Warmup(), r.Duration(), holder, try)
}

// readers share a row.
func (p *peer) readers(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	r.Writes = 0
	return p.mix(ctx, r)
}

// mix lets readers share a row, and writers lock it.
func (p *peer) mix(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(_ int, c *pgx.Conn) (load.Op, error) {
		read, write := rowLock(c, r.Path, "for share").Op(), rowLock(c, r.Path, "for update").Op()
		return func(ctx context.Context) error {
			if rand.IntN(100) < r.Writes {
				return write(ctx)
			}
			return read(ctx)
		}, addRow(ctx, c, r.Path)
	})
}

// hold acquires a lock. The lock is released when the connection ends, at once when this process dies:
// there is no session that could survive, and no timeout.
func (p *peer) hold(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	acquire, err := p.first(ctx, r.Path)
	if err != nil {
		return protocol.Result{}, err
	}
	_, err = acquire(ctx)
	return protocol.Result{Operations: 1}, err
}

// queued returns when another connection waits for the one that holds the lock.
func (p *peer) queued(ctx context.Context, _ protocol.Request) (protocol.Result, error) {
	clients, err := p.take(ctx, 1)
	if err != nil {
		return protocol.Result{}, err
	}
	return protocol.Result{}, load.AwaitQueue(ctx, 2, func(ctx context.Context) (n int, err error) {
		err = clients[0].QueryRow(ctx, "select 1 + count(distinct pid) from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))").Scan(&n)
		return n, err
	})
}

// wait waits for the lock.
func (p *peer) wait(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	acquire, err := p.first(ctx, r.Path)
	if err != nil {
		return protocol.Result{}, err
	}
	return load.Wait(ctx, acquire)
}

// first returns the lock of the first client.
func (p *peer) first(ctx context.Context, name string) (load.Acquire, error) {
	clients, err := p.take(ctx, 1)
	if err != nil {
		return nil, err
	}
	acquire, _, err := p.kind.lock(ctx, clients[0], name)
	return acquire, err
}
