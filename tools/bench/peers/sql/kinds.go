package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/go-curator/curator/tools/bench/internal/load"
)

// kind makes a client's lock of a name.
type kind func(ctx context.Context, c *pgx.Conn, name string) (load.Acquire, error)

var kinds = map[string]kind{"insert": insertLock, "update": updateLock}

// pollPause is the pause before another try to insert. It is what a program would choose
// that is in a hurry: a longer one makes for longer waits, and less load.
const pollPause = 10 * time.Millisecond

// errNotHeld says that the row of a held lock was not there.
var errNotHeld = errors.New("the lock was not held any more")

// insertLock is one statement to acquire and one to release, each committed.
func insertLock(_ context.Context, c *pgx.Conn, name string) (load.Acquire, error) {
	holder := strconv.FormatUint(uint64(c.PgConn().PID()), 10)
	release := func(ctx context.Context) error {
		tag, err := c.Exec(ctx, "delete from insert_locks where name = $1 and holder = $2", name, holder)
		if err == nil && tag.RowsAffected() != 1 {
			err = errNotHeld
		}
		return err
	}
	return func(ctx context.Context) (load.Op, error) {
		for {
			tag, err := c.Exec(ctx, "insert into insert_locks (name, holder) values ($1, $2) on conflict do nothing", name, holder)
			if err != nil {
				return nil, err
			}
			if tag.RowsAffected() == 1 {
				return release, nil
			}
			select {
			case <-time.After(pollPause):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}, nil
}

// updateLock is a transaction as long as the lock is held. Its row is there before.
func updateLock(ctx context.Context, c *pgx.Conn, name string) (load.Acquire, error) {
	if _, err := c.Exec(ctx, "insert into update_locks (name) values ($1) on conflict do nothing", name); err != nil {
		return nil, fmt.Errorf("insert the row of %s: %w", name, err)
	}
	return func(ctx context.Context) (load.Op, error) {
		tx, err := c.Begin(ctx)
		if err != nil {
			return nil, err
		}
		var found string
		if err := tx.QueryRow(ctx, "select name from update_locks where name = $1 for update", name).Scan(&found); err != nil {
			return nil, errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
		}
		return tx.Commit, nil
	}, nil
}
