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
	"os"
	"time"

	"github.com/jackc/pgx/v5"

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
