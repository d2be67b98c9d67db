// Package hold runs a command, CMD, under a lock: it acquires the lock, starts CMD as a process group,
// passes signals on, ends CMD when the lock is lost, does job control on the terminal, and releases the
// lock when CMD's whole group has ended. If the lock is lost CMD gets SIGTERM, and SIGKILL before
// somebody else can get the lock; a CMD that cannot be killed may go on. One goroutine uses a Holding.
// When the context of Run ends, CMD is ended.
package hold

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

const (
	// releaseTimeout bounds the wait for the confirmation of a release, and lostTimeout that for a
	// lock that was lost.
	releaseTimeout = 5 * time.Second
	lostTimeout    = 500 * time.Millisecond
)

// Kind is a kind of lock that CMD can run under.
type Kind struct {
	Name string // of the command of curator
	Noun string // for messages, such as "the lock"
	Held string // for messages, such as "held" by somebody
	Got  string // for messages, such as "acquired"
	Open func(client *framework.Client, path string, o Options) (locks.InterProcessLock, error)
}

// Options are how long a Holding waits, and what ends CMD.
type Options struct {
	Timeout      time.Duration // of the wait; zero is no limit
	Try          bool          // do not wait
	ConflictCode int           // the exit code if others hold the lock
	Grace        time.Duration // between SIGTERM and SIGKILL
	MaxHold      time.Duration // zero is no limit
	Verbose      bool          // log the states of the session
	Leases       int           // of a semaphore
	ID           string        // of a participant of an election
}

// Local is a server that may run in this process.
type Local interface {
	// Dial connects to the server, as settings.Server says.
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	// Leave stops the server as soon as no other session uses it, or a signal asks this process to end.
	Leave(ctx context.Context, sigs *console.Signals)
}

// Task is a CMD that is to run under a lock.
type Task struct {
	Options
	Kind  Kind
	Path  string   // of the lock
	Argv  []string // CMD and its arguments
	Local Local    // nil without --embedded
}

// Holding is one run of CMD under a lock.
type Holding struct {
	*settings.Session
	Task
	cmd  *exec.Cmd
	lock locks.InterProcessLock
}

// New returns a Holding, after it has checked all that can be checked without a server.
func New(c *console.Console, set *settings.Settings, task Task) (*Holding, error) {
	h := &Holding{Task: task}
	server := settings.Server{Embeds: true}
	if task.Local != nil {
		server.Dial = task.Local.Dial
	}
	var err error
	if h.Session, err = settings.NewSession(c, set, server, framework.WithOwnerLabel(ownerLabel(task.Kind, task.Argv))); err != nil {
		return nil, err
	}
	if h.lock, err = task.Kind.Open(h.Client, task.Path, task.Options); err != nil {
		return nil, console.Usagef("%v", err)
	}
	entry, held := heldLocks(c, h.Ensemble, task.Path)
	if held {
		return nil, console.Usagef("%s %q is held by the curator that this one runs under (see %s, %s): it would wait for itself", task.Kind.Noun, task.Path, envPath, envHeld)
	}
	if h.cmd, err = lookUp(c, task.Argv); err != nil {
		return nil, err
	}
	h.cmd.Env = append(slices.Clone(c.Env), envPath+"="+task.Path, envHeld+"="+strings.TrimSpace(c.Getenv(envHeld)+" "+entry))
	return h, nil
}

// Run takes the lock, runs CMD and releases.
func (h *Holding) Run(ctx context.Context) error {
	h.Signals = console.Listen()
	defer h.Signals.Stop()
	if h.Verbose {
		defer h.TellStates()()
	}
	var lease *locks.Lease
	interrupted, err := h.Signals.Until(ctx, func(ctx context.Context) (err error) {
		lease, err = h.acquire(ctx)
		return err
	})
	released := true
	switch {
	case err == nil && interrupted == nil:
		released, err = h.hold(ctx, lease)
	case interrupted != nil:
		released = h.release(ctx, lease, releaseTimeout) == nil
		err = &console.Exit{Code: console.SignalCode(interrupted.Signal)}
	}
	timeout := h.Client.SessionTimeout()
	if closed := h.Close(ctx); closed != nil && !released {
		h.Notes.Say("the release of %s could not be confirmed: it becomes free when the session expires, in %v at the latest", h.Path, timeout)
	}
	if h.Local != nil {
		h.Local.Leave(ctx, h.Signals)
	}
	return err
}

// acquire connects and takes the lock. The error is an Exit.
func (h *Holding) acquire(ctx context.Context) (*locks.Lease, error) {
	first := settings.ConnectTimeout
	if h.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.Timeout)
		defer cancel()
		first = min(first, h.Timeout)
	}
	if err := h.Connect(ctx, first); err != nil {
		return nil, err
	}
	acquire := h.lock.Acquire
	if h.Try {
		acquire = h.lock.TryAcquire
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, settings.ConnectTimeout)
		defer cancel()
	} else {
		defer h.tellWaiting(ctx)()
	}
	lease, err := acquire(ctx)
	if err != nil {
		if errors.Is(err, locks.ErrNotAcquired) {
			return nil, h.notAcquired(ctx)
		}
		return nil, h.Explain(err)
	}
	return lease, nil
}

// hold runs CMD under the lease and releases the lease. released is false if the lock's node may
// still exist and keep others from the lock.
func (h *Holding) hold(ctx context.Context, lease *locks.Lease) (released bool, err error) {
	h.cmd.Env = append(h.cmd.Env, envToken+"="+strconv.FormatInt(lease.Token(), 10))
	if err := lease.Err(); err != nil {
		_ = h.release(ctx, lease, lostTimeout)
		return true, console.Exitf(console.ExitLost, "%v: the command was not started", err)
	}
	h.Signals.AddPassedOn()
	terminal := openTerminal(h.Stdin, h.Stdout.File, h.Stderr)
	defer terminal.close()
	command, err := startCommand(h.cmd, terminal, h.Self)
	if err != nil {
		return h.release(ctx, lease, releaseTimeout) == nil, cannotRun(h.cmd.Args[0], err)
	}
	s := &supervisor{
		notes: h.Notes, client: h.Client, lease: lease, grace: h.Grace, maxHold: h.MaxHold,
		signals: h.Signals, terminal: terminal, command: command,
	}
	end := s.wait(ctx)
	terminal.takeBack(command)
	if end.killed {
		terminal.restore()
	}
	if end.lost {
		_ = h.release(ctx, lease, lostTimeout) // the lock is lost, whether the release succeeds or not
		return true, &console.Exit{Code: console.ExitLost}
	}
	releaseErr := h.release(ctx, lease, releaseTimeout)
	switch {
	case errors.Is(releaseErr, locks.ErrLockLost):
		err = console.Exitf(console.ExitLost, "%v: the lock was lost before the release; the command had ended with status %d", releaseErr, end.code)
	case end.overdue:
		err = &console.Exit{Code: console.ExitMaxHold}
	case end.code != 0:
		err = &console.Exit{Code: end.code}
	}
	return !errors.Is(releaseErr, locks.ErrReleasePending), err
}

// release releases the lease. A signal ends the wait for the confirmation.
func (h *Holding) release(ctx context.Context, lease *locks.Lease, timeout time.Duration) error {
	_, err := h.Signals.Until(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return lease.Release(ctx)
	})
	if err != nil {
		return fmt.Errorf("release %s: %w", h.Path, err)
	}
	return nil
}
