// Fencing adds amounts to a balance in SQLite, under a lock. Several processes may run it.
//
//	go run ./fencing -connect 127.0.0.1:2181 -database /tmp/accounts.db
//
// Every line of its input is an amount. A process that is stopped while it holds the lock (kill
// -STOP) still believes in the lock when it continues, although another process has it by then.
// No lock service can prevent that. The database prevents the harm: it stores the highest token
// that it has seen, and refuses writes with a lower one.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver "sqlite3", which needs no cgo
	_ "github.com/ncruces/go-sqlite3/embed"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

func main() {
	connect := flag.String("connect", "127.0.0.1:2181", "the ZooKeeper servers, as `host:port,...`")
	database := flag.String("database", "accounts.db", "the `file` of the database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *connect, *database, os.Stdin); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, connect, database string, input io.Reader) (err error) {
	accounts, err := open(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, accounts.db.Close()) }()

	client, err := framework.NewClient(connect, retry.ExponentialBackoff(100*time.Millisecond, 5))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	mutex, err := locks.NewInterProcessMutex(client, "/locks/accounts")
	if err != nil {
		return err
	}
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return accounts.add(ctx, lease.Token(), input)
	})
}

type accounts struct{ db *sql.DB }

func open(ctx context.Context, file string) (accounts, error) {
	db, err := sql.Open("sqlite3", "file:"+file+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return accounts{}, err
	}
	_, err = db.ExecContext(ctx, `
		create table if not exists account (id integer primary key, balance integer not null, fence integer not null);
		insert into account values (1, 0, 0) on conflict do nothing`)
	if err != nil {
		return accounts{}, errors.Join(err, db.Close())
	}
	return accounts{db}, nil
}

// add adds the amounts that it reads.
func (a accounts) add(ctx context.Context, token int64, input io.Reader) error {
	balance, err := a.claim(ctx, token)
	if err != nil {
		return err
	}
	fmt.Println("token", token, "balance", balance)
	for lines := bufio.NewScanner(input); lines.Scan(); {
		amount, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return err
		}
		if err := a.write(ctx, token, balance+amount); err != nil {
			return err
		}
		balance += amount
		fmt.Println("balance", balance)
	}
	return nil
}

var errFenced = errors.New("another process has the lock by now")

// claim shows the token with the first access under the lock, which is a read. From then on the
// holders before can write no more, so that what was read stays true.
func (a accounts) claim(ctx context.Context, token int64) (balance int64, err error) {
	err = a.db.QueryRowContext(ctx,
		"update account set fence = ?1 where id = 1 and fence <= ?1 returning balance", token).Scan(&balance)
	if errors.Is(err, sql.ErrNoRows) {
		err = errFenced
	}
	return balance, err
}

// write stores the balance, unless a higher token was shown meanwhile.
func (a accounts) write(ctx context.Context, token, balance int64) error {
	result, err := a.db.ExecContext(ctx, "update account set balance = ?2 where id = 1 and fence = ?1", token, balance)
	if err != nil {
		return err
	}
	written, err := result.RowsAffected()
	if err == nil && written == 0 {
		err = errFenced
	}
	return err
}
