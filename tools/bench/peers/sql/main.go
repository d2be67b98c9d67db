// Sql is the benchmark's peer for locks in a table of PostgreSQL. Its arguments are the kind
// of lock and the address of the server:
//
//   - insert: who inserts the row with the lock's name has the lock, and deletes the row to
//     release it; who does not, tries again after a pause. Nobody queues, so that a lock can
//     pass somebody by for long, and who dies leaves the row behind.
//   - update: who has the row selected for update in a transaction has the lock, until the
//     transaction ends. The server has the queue; a holder occupies a connection.
//
// It runs the workloads of the protocol in tools/bench/internal/protocol.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/go-curator/curator/tools/bench/internal/load"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// closeTimeout is how long the connections may take to be closed, all together.
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
	p := &peer{address: os.Args[2], lock: kinds[os.Args[1]]}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if err := p.createTables(ctx); err != nil {
		return err
	}
	return protocol.Serve(ctx, os.Stdin, os.Stdout, map[string]protocol.Workload{
		protocol.Solo:    p.contend,
		protocol.Contend: p.contend,
		protocol.Spread:  p.spread,
	})
}

// peer has the clients, which stay connected.
type peer struct {
	address string
	lock    kind
	clients []*pgx.Conn
}

// take returns n clients, and connects those that are missing.
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

// createTables makes one table for each kind. Another peer may have done so before.
func (p *peer) createTables(ctx context.Context) error {
	clients, err := p.take(ctx, 1)
	if err != nil {
		return err
	}
	// Two peers that create the same table at once can collide in the catalogue.
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

// repeat has each client repeat the lock whose name is given for it.
func (p *peer) repeat(ctx context.Context, r protocol.Request, name func(i int) string) (protocol.Result, error) {
	clients, err := p.take(ctx, r.ClientCount())
	if err != nil {
		return protocol.Result{}, err
	}
	var ops []load.Op
	for i, c := range clients {
		acquire, err := p.lock(ctx, c, name(i))
		if err != nil {
			return protocol.Result{}, err
		}
		ops = append(ops, acquire.Op())
	}
	return load.Repeat(ctx, r.Warmup(), r.Duration(), ops...)
}

func (p *peer) contend(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(int) string { return r.Path })
}

func (p *peer) spread(ctx context.Context, r protocol.Request) (protocol.Result, error) {
	return p.repeat(ctx, r, func(i int) string { return r.Path + "/" + strconv.Itoa(i) })
}
