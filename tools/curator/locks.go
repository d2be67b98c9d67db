package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/act"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/screen"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

const locksHelp = `Shows the locks at PATH and below it that somebody holds or waits for: the kind,
the holders, and the waiters in order. PATH is / by default.

FOR is the age of a contender's node: how long it has waited and held together.
The server does not record when a waiter became a holder. TOKEN is the fencing
token. An InterProcessSemaphore has the same nodes as a mutex, so all its
holders but the first are shown as waiters. A client that takes a lease of an
InterProcessSemaphoreV2 is a waiter, although the lease has a node already.
After curator revoke the owner of a node is not known, because the request
replaces its name.

With -o json the output is {"locks": [LOCK...]}, which is stable. A LOCK has
path, kind (mutex, read-write, semaphore-v2 or latch), holders and waiters, or
an error if its node cannot be read. Each holder and waiter has node, owner,
session, token, since (UTC) and revocationRequested, and if they are known
label, host and pid.`

func (p *program) locksCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "locks [PATH]", short: "Show who holds locks and who waits for them", help: locksHelp,
		example: "  curator locks --watch /locks\n  curator locks /locks -o json | jq '.locks[].holders[].owner'",
	}, func(ctx context.Context, a *answer, path string) (view.Result, error) {
		list, err := view.Locks(ctx, a.Client, path)
		return shown(a, "locks", list, err, view.LockRows)
	})
}

const leadersHelp = `Shows the elections at PATH and below it: the leader, and the candidates in
order. PATH is / by default. FOR is the age of a participant's node: how long it
has been a candidate and the leader together. TOKEN is the fencing token.

The kind is latch for a LeaderLatch, and selector for a LeaderSelector and for
curator elect. The nodes of a selector have the same names as those of a mutex.
Their data tells them apart: an id for a selector, an owner for a mutex. If PATH
itself is the path of a mutex, it is shown as an election.

With -o json the output is {"elections": [ELECTION...]}, which is stable. An
ELECTION has path, kind, leader, and candidates, those who wait; leader and each
candidate have id, node, session, token and since (UTC). leader is null if there
is none. A node that cannot be read is an ELECTION with an error.`

func (p *program) leadersCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "leaders [PATH]", short: "Show leaders and candidates of elections", help: leadersHelp,
		example: "  curator leaders --watch /leaders\n  curator leaders /leaders -o json | jq -r '.elections[].leader.id'",
	}, func(ctx context.Context, a *answer, path string) (view.Result, error) {
		list, err := view.Elections(ctx, a.Client, path)
		return shown(a, "elections", list, err, view.LeaderRows)
	})
}

const queuesHelp = `Shows Curator's queues with items at PATH and below it, / by default. KIND is
found by the names of the items. LENGTH is the number of items, and OLDEST the
age of the item with the lowest number. DETAILS has the number of delayed items
and when the next is due, the number of items of each priority, and the number
of items that consumers have locked.

Consumers are known only by their lock nodes, which only queues with a lock path
have. They are shown if the lock path is at PATH or below it. If the id of an
item has eleven hexadecimal digits, in upper case, it is shown as the time of a
delayed item.

With -o json the output is {"queues": [QUEUE...]}, which is stable. A QUEUE has
path, kind (plain, priority, delay, id, simple or mixed), length, delayed,
inWork and consumers (session, items), or an error if its node cannot be read.
If they are known it also has oldest (node, created, bytes), nextDue, priorities
(priority, length) and lockPath. Times are UTC.`

func (p *program) queuesCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "queues [PATH]", short: "Show how many items queues have", help: queuesHelp,
		example: "  curator queues --watch /queues\n  curator queues /queues -o json | jq '.queues[] | select(.length > 100).path'",
	}, func(ctx context.Context, a *answer, path string) (view.Result, error) {
		list, err := view.Queues(ctx, a.Client, path, time.Now())
		return shown(a, "queues", list, err, view.QueueRows)
	})
}

const servicesHelp = `Shows the services and their instances below PATH, the base path of service
discovery. The instances must be in the JSON of Curator's x-discovery. An
instance with a session is removed when that ends; others stay until somebody
deletes them.

With -o json the output is {"services": [SERVICE...]}, which is stable. A
SERVICE has name, path and instances. An instance has id, node, address, port,
sslPort, type, enabled, registered (UTC) and session, and if it is set uri or
payload. A service that cannot be read, and an instance that cannot be read or
decoded, has an error.`

func (p *program) servicesCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "services PATH", short: "Show services and their instances", help: servicesHelp, least: 1,
		example: "  curator services --watch /services\n  curator services /services -o json | jq -r '.services[].instances[].address'",
	}, func(ctx context.Context, a *answer, path string) (view.Result, error) {
		list, err := view.Services(ctx, a.Client, path)
		return shown(a, "services", list, err, view.ServiceRows)
	})
}

const revokeHelp = `Asks the holders of the lock at PATH to release it, as Curator's Revoker does. A
holder that was not made revocable ignores the request; curator lock and
semaphores do. The request replaces the owner's name in the holder's node.
While a client takes a lease of an InterProcessSemaphoreV2 the command looks
again, for up to a second, whether the client holds it or waits.

Exit status 1 if nobody holds the lock.`

func (p *program) revokeCommand() *cobra.Command {
	return p.requestCommand(request{
		use: "revoke PATH", short: "Ask the holder of a lock to give it up", help: revokeHelp,
		least: 1, most: 1, writes: true,
		run: func(ctx context.Context, a *answer, args []string) error {
			lock, err := a.held(ctx, args[0], 0)
			if err != nil {
				return err
			}
			asked, err := revoke(ctx, a.Client, lock.Holders)
			for _, c := range asked {
				a.Stdout.Printf("asked %s, token %d\n", output.Line(view.OwnerOf(c)), c.Token)
			}
			if err == nil && len(asked) == 0 {
				return console.Exitf(console.ExitNo, "the holder has released %s meanwhile", args[0])
			}
			return err
		},
	})
}

// revoke asks holders to release a lock, and returns those that it has asked. It leaves out holders
// that have released the lock meanwhile.
func revoke(ctx context.Context, client *framework.Client, holders []view.Contender) (asked []view.Contender, err error) {
	for _, c := range holders {
		switch err := act.Revoke(ctx, client, c.Node, c.Token); {
		case errors.Is(err, act.ErrAnother):
			continue
		case err != nil:
			return asked, err
		}
		asked = append(asked, c)
	}
	return asked, nil
}

// held returns the lock at path. It is an error if the lock has no holder. See view.DecidedLock for token.
func (a *answer) held(ctx context.Context, path string, token int64) (*view.Lock, error) {
	lock, err := view.DecidedLock(ctx, a.Client, path, token)
	if err != nil {
		return nil, err
	}
	if lock == nil || len(lock.Holders) == 0 {
		return nil, console.Exitf(console.ExitNo, "nobody holds %s", path)
	}
	return lock, nil
}

const breakHelp = `Takes the lock at PATH away from its holder, by deleting the holder's node. The
next waiter in the queue gets the lock at once.

The holder is not stopped. It notices the loss when it receives the event of the
deletion. Until then, and for as long as its program ignores the loss, two
holders may work at the same time. If that does harm, end the holder first.
curator revoke asks the holder to release the lock instead.

The command shows the holder and asks for a confirmation. Without a terminal
--yes is required. The node is deleted only if its token is still the same; the
token is the czxid of the node. For a lock with several holders, --token chooses
one. While a client takes a lease of an InterProcessSemaphoreV2 the command
looks again, for up to a second, whether the client holds it or waits. Exit
status 1 if nobody holds the lock, or nobody with that token.`

func (p *program) breakCommand() *cobra.Command {
	var yes bool
	var token int64
	return p.requestCommand(request{
		use: "break PATH", short: "Take a lock away from its holder", help: breakHelp,
		example: "  curator break /locks/orders\n  curator break --yes --token 8589934619 /locks/orders",
		least:   1, most: 1, writes: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
			cmd.Flags().Int64Var(&token, "token", 0, "the token `N` of the holder that loses the lock")
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			c, err := a.chooseHolder(ctx, args[0], token)
			if err != nil {
				return err
			}
			if !yes {
				if err := a.confirm(ctx, args[0], c); err != nil {
					return err
				}
			}
			return a.breakHold(ctx, args[0], c)
		},
	})
}

// chooseHolder returns the holder with the token, or the only holder if token is 0.
func (a *answer) chooseHolder(ctx context.Context, path string, token int64) (view.Contender, error) {
	lock, err := a.held(ctx, path, token)
	if err != nil {
		return view.Contender{}, err
	}
	for _, c := range lock.Holders {
		if token != 0 && c.Token == token || token == 0 && len(lock.Holders) == 1 { // a hidden holder has the token 0
			return c, nil
		}
	}
	if token == 0 {
		return view.Contender{}, console.Usagef("%s has %d holders: choose one with --token, see curator locks %[1]s", path, len(lock.Holders))
	}
	return view.Contender{}, console.Exitf(console.ExitNo, "nobody holds %s with the token %d", path, token)
}

// confirm says what will happen, and returns an error unless the user types yes.
func (a *answer) confirm(ctx context.Context, path string, c view.Contender) error {
	if screen.Columns(a.Stdin) == 0 {
		return console.Usagef("standard input is not a terminal, so --yes is required: curator break --yes %s", path)
	}
	text := fmt.Sprintf("%s is held by %s, token %d, whose node is %s old.\n"+
		"The holder's program is not stopped, and may work at the same time as the next holder.\nType yes to take the lock away: ",
		output.Line(path), output.Line(view.OwnerOf(c)), c.Token, view.Age(c.Since.Time))
	if _, err := io.WriteString(a.Stderr, text); err != nil {
		return console.Exitf(console.ExitInternal, "cannot ask: %v", err)
	}
	typed := make(chan string, 1)
	go func() { // not joined: only the end of the process stops a read from a terminal
		line, _ := bufio.NewReader(a.Stdin).ReadString('\n') // at the end of the input line is not yes
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == "yes" {
			return nil
		}
		return console.Exitf(console.ExitNo, "nothing was done")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// breakHold deletes the node if it is still the same one.
func (a *answer) breakHold(ctx context.Context, path string, c view.Contender) error {
	err := act.Break(ctx, a.Client, c.Node, c.Token)
	if errors.Is(err, act.ErrAnother) {
		return console.Exitf(console.ExitNo, "the holder has released %s meanwhile", path)
	}
	if err != nil {
		return err
	}
	a.Stdout.Printf("took %s away from %s, token %d\n", output.Line(path), output.Line(view.OwnerOf(c)), c.Token)
	return nil
}

const verifyHelp = `Exits with 0 if a holder of the lock at PATH has the token TOKEN, and with 1 if
none has. The server is first brought up to date with the quorum, so the answer
was true at a moment during the command. The lock may be lost right after that.
It is safer if the receiver of a request compares tokens itself.

A client that takes a lease of an InterProcessSemaphoreV2 holds it in a moment,
or waits until another one is returned. If TOKEN is that of such a lease, the
command looks again for up to a second. A lease that waits is not held.`

func (p *program) verifyCommand() *cobra.Command {
	var token int64
	return p.requestCommand(request{
		use: "verify PATH TOKEN", short: "Check whether a lock is held with a fencing token", help: verifyHelp,
		example: `  curator verify "$CURATOR_LOCK_PATH" "$CURATOR_FENCING_TOKEN" && ./commit.sh`,
		least:   2, most: 2,
		check: func(args []string) (err error) {
			if token, err = strconv.ParseInt(args[1], 10, 64); err != nil || token <= 0 {
				return console.Usagef("%q is not a fencing token: a token is a number above 0", args[1])
			}
			return nil
		},
		run: func(ctx context.Context, a *answer, args []string) error {
			if err := a.Client.Sync().ForPath(ctx, args[0]); err != nil {
				return err
			}
			lock, err := a.held(ctx, args[0], token)
			if err != nil {
				return err
			}
			for _, c := range lock.Holders {
				if c.Token == token {
					return nil
				}
			}
			c := lock.Holders[0]
			return console.Exitf(console.ExitNo, "%s is not held with the token %d, but by %s with the token %d", args[0], token, view.OwnerOf(c), c.Token)
		},
	})
}
