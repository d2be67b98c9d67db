// Sql is the benchmark's peer for locks in a table of PostgreSQL. Its arguments are the kind
// of lock and the address of the server:
//
//   - insert: the client that inserts the row with the lock's name holds the lock. It deletes the
//     row to release it. Other clients try again after a pause. There is no queue, so a client may
//     wait for very long. The row remains if the holder dies.
//   - update: the client that selects the row for update in a transaction holds the lock until the
//     transaction ends. The server has the queue. A holder occupies a connection.
//
// It runs the workloads of the protocol in tools/bench/internal/protocol.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// closeTimeout bounds the time to close all connections.
const closeTimeout = 5 * time.Second

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sql peer:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	if len(os.Args) != 3 || kinds[os.Args[1]] == nil {
		return errors.New("usage: sql insert|update ADDRESS")
	}
	ctx := context.Background()
	p := &peer{address: os.Args[2], kind: kinds[os.Args[1]]}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if err := p.createTables(ctx); err != nil {
		return err
	}
	return protocol.Serve(ctx, os.Stdin, os.Stdout, p.workloads(os.Args[1]))
}

// peer keeps the clients, which stay connected between requests.
type peer struct {
	address string
	kind    kind
	clients []*pgx.Conn
}

// workloads returns the workloads of a kind of lock. An inserted row remains when its client dies, and
// cannot be shared, so that kind does not have all workloads.
func (p *peer) workloads(kind string) map[string]protocol.Workload {
	all := map[string]protocol.Workload{
		protocol.Solo:    p.contend,
		protocol.Contend: p.contend,
		protocol.Spread:  p.spread,
		protocol.TryFree: p.tryFree,
		protocol.TryBusy: p.tryBusy,
	}
	if kind == "update" {
		all[protocol.Readers], all[protocol.Mix] = p.readers, p.mix
		all[protocol.Hold], all[protocol.Queued], all[protocol.Wait] = p.hold, p.queued, p.wait
	}
	return all
}

// take returns n clients. It connects more if there are fewer.
func (p *peer) take(ctx context.Context, n int) ([]*pgx.Conn, error) {
	for len(p.clients) < n {
		c, err := pgx.Connect(ctx, "postgres://postgres@"+p.address+"/postgres?sslmode=disable")
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		p.clients = append(p.clients, c)
	}
	return p.clients[:n], nil
}

// createTables creates a table for each kind, unless another peer has done so.
func (p *peer) createTables(ctx context.Context) error {
	clients, err := p.take(ctx, 1)
	if err != nil {
		return err
	}
	// Without the lock, one of two peers that create the same table at the same time can fail.
	_, err = clients[0].Exec(ctx, `
		begin;
		select pg_advisory_xact_lock(1);
		create table if not exists insert_locks (name text primary key, holder text not null);
		create table if not exists update_locks (name text primary key);
		commit`)
	if err != nil {
		return fmt.Errorf("create the tables: %w", err)
	}
	return nil
}

// close ends the connections.
func (p *peer) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	var errs []error
	for _, c := range p.clients {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(errs...)
}

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
