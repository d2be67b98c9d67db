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

// kind is a kind of locks.
type kind interface {
	// lock makes a client's lock of a name, without waiting or with.
	lock(ctx context.Context, c *pgx.Conn, name string) (load.Acquire, load.Try, error)
}

var kinds = map[string]kind{"insert": insertLocks{}, "update": updateLocks{}}

// pollPause is the pause before another try to insert. It is what a program would choose
// that is in a hurry: a longer one makes for longer waits, and less load.
const pollPause = 10 * time.Millisecond

// errNotHeld says that the row of a held lock was not there.
var errNotHeld = errors.New("the lock was not held any more")

// insertLocks take one statement to acquire and one to release, each committed.
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

// updateLocks are transactions as long as the lock is held. Its row is there before.
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

// lockNotAvailable is PostgreSQL's code for a row that somebody else has selected.
const lockNotAvailable = "55P03"

// addRow inserts the row that stands for a lock.
func addRow(ctx context.Context, c *pgx.Conn, name string) error {
	if _, err := c.Exec(ctx, "insert into update_locks (name) values ($1) on conflict do nothing", name); err != nil {
		return fmt.Errorf("insert the row of %s: %w", name, err)
	}
	return nil
}

// rowLock selects a row in one of the ways that lock it.
func rowLock(c *pgx.Conn, name, way string) load.Acquire {
	return func(ctx context.Context) (load.Op, error) { return selected(ctx, c, name, way) }
}

// selected begins a transaction that has selected the row of a lock. Its end releases the
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
