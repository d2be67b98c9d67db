package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
)

// kind is a kind of lock.
type kind interface {
	// lock returns the lock with a name for a client: with waiting, and without.
	lock(ctx context.Context, c *pgx.Conn, name string) (load.Acquire, load.Try, error)
}

var kinds = map[string]kind{"insert": insertLocks{}, "update": updateLocks{}}

// pollPause is the pause between two attempts to insert. It is short, because a longer pause makes the
// waits longer. It also makes the load lower.
const pollPause = 10 * time.Millisecond

// errNotHeld is returned when the row of a held lock does not exist.
var errNotHeld = errors.New("the lock was not held any more")

// insertLocks needs one statement to acquire a lock and one to release it. Each is a transaction.
type insertLocks struct{}

func (insertLocks) lock(_ context.Context, c *pgx.Conn, name string) (load.Acquire, load.Try, error) {
	holder := strconv.FormatUint(uint64(c.PgConn().PID()), 10)
	release := func(ctx context.Context) error {
		tag, err := c.Exec(ctx, "delete from insert_locks where name = $1 and holder = $2", name, holder)
		if err == nil && tag.RowsAffected() != 1 {
			err = errNotHeld
		}
		return err
	}
	try := func(ctx context.Context) (load.Op, error) {
		tag, err := c.Exec(ctx, "insert into insert_locks (name, holder) values ($1, $2) on conflict do nothing", name, holder)
		switch {
		case err != nil:
			return nil, err
		case tag.RowsAffected() == 0:
			return nil, load.ErrBusy
		}
		return release, nil
	}
	acquire := func(ctx context.Context) (load.Op, error) {
		for {
			if release, err := try(ctx); !errors.Is(err, load.ErrBusy) {
				return release, err
			}
			select {
			case <-time.After(pollPause):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	return acquire, try, nil
}

// updateLocks keeps a transaction open while a lock is held. The row of the lock exists before.
type updateLocks struct{}

func (updateLocks) lock(ctx context.Context, c *pgx.Conn, name string) (load.Acquire, load.Try, error) {
	if err := addRow(ctx, c, name); err != nil {
		return nil, nil, err
	}
	try := func(ctx context.Context) (load.Op, error) {
		release, err := selected(ctx, c, name, "for update nowait")
		if refused := new(pgconn.PgError); errors.As(err, &refused) && refused.Code == lockNotAvailable {
			return nil, load.ErrBusy
		}
		return release, err
	}
	return rowLock(c, name, "for update"), try, nil
}

// lockNotAvailable is PostgreSQL's error code for a row that another transaction has locked.
const lockNotAvailable = "55P03"

// addRow inserts the row of a lock.
func addRow(ctx context.Context, c *pgx.Conn, name string) error {
	if _, err := c.Exec(ctx, "insert into update_locks (name) values ($1) on conflict do nothing", name); err != nil {
		return fmt.Errorf("insert the row of %s: %w", name, err)
	}
	return nil
}

// rowLock returns a lock that selects a row, in a way that locks the row.
func rowLock(c *pgx.Conn, name, way string) load.Acquire {
	return func(ctx context.Context) (load.Op, error) { return selected(ctx, c, name, way) }
}

// selected begins a transaction and selects the row of a lock. The end of the transaction releases the
// row.
func selected(ctx context.Context, c *pgx.Conn, name, way string) (load.Op, error) {
	tx, err := c.Begin(ctx)
	if err != nil {
		return nil, err
	}
	var found string
	if err := tx.QueryRow(ctx, "select name from update_locks where name = $1 "+way, name).Scan(&found); err != nil {
		return nil, errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	return tx.Commit, nil
}
