package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

const (
	// connectTimeout is how long the first connection is waited for.
	connectTimeout = 15 * time.Second
	// retryDelay is the pause between tries of a request while the ensemble is away.
	retryDelay = 200 * time.Millisecond
	// releaseTimeout is how long the confirmation of a release is waited for, lostTimeout
	// that for a lock that is lost anyway, and closeTimeout that of the session's end.
	releaseTimeout = 5 * time.Second
	lostTimeout    = 500 * time.Millisecond
	closeTimeout   = 2 * time.Second
)

// lock is one curator lock.
type lock struct {
	*program
	lockFlags
	path     string
	ensemble ensemble
	cmd      *exec.Cmd
	client   *framework.Client
	mutex    *locks.InterProcessMutex
	dialer   *dialer
	signals  *signals
}

// newLock checks everything that can be checked without a server.
func (p *program) newLock(flags lockFlags, path string, argv []string) (*lock, error) {
	l := &lock{program: p, lockFlags: flags, path: path, ensemble: parseEnsemble(flags.connect)}
	l.dialer = &dialer{servers: l.ensemble.servers}
	if flags.embedded {
		l.dialer.embedded = &embedded{address: l.ensemble.servers[0], notes: p.notes}
	}
	var err error
	l.client, err = framework.NewClient(flags.connect, retry.Forever(retryDelay),
		framework.WithSessionTimeout(flags.sessionTimeout),
		framework.WithConnectionTimeout(connectTimeout),
		framework.WithErrorPolicy(state.SessionErrorPolicy()),
		framework.WithDialer(l.dialer.dial),
		framework.WithOwnerLabel(ownerLabel(argv)),
		framework.WithLogger(slog.New(slog.DiscardHandler))) // a loss is told here
	if err == nil {
		l.mutex, err = locks.NewInterProcessMutex(l.client, path)
	}
	if err != nil {
		return nil, usage("%v", err)
	}
	entry, held := p.heldLocks(l.ensemble, path)
	if held {
		return nil, usage("the lock %q is held by the curator lock that this one runs under (see %s, %s): it would wait for itself", path, envPath, envHeld)
	}
	if l.cmd, err = p.lookUp(argv); err != nil {
		return nil, err
	}
	l.cmd.Env = append(slices.Clone(p.env), envPath+"="+path, envHeld+"="+strings.TrimSpace(p.getenv(envHeld)+" "+entry))
	return l, nil
}

// run takes the lock, runs CMD and releases.
func (l *lock) run(ctx context.Context) error {
	l.signals = listenSignals()
	defer l.signals.stop()
	var lease *locks.Lease
	interrupted, err := l.signals.until(ctx, func(ctx context.Context) (err error) {
		lease, err = l.acquire(ctx)
		return err
	})
	released := true
	switch {
	case err == nil && interrupted == nil:
		released, err = l.hold(ctx, lease)
	case interrupted != nil:
		released = l.release(ctx, lease, releaseTimeout) == nil
		err = &exit{code: signalCode(interrupted.signal)}
	}
	l.close(ctx, released)
	l.dialer.embedded.leave(ctx, l.signals)
	return err
}

// close ends the session. released tells whether the lock's node is known to be gone.
func (l *lock) close(ctx context.Context, released bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	timeout := l.client.SessionTimeout()
	if err := l.client.Close(ctx); err != nil && !released {
		l.notes.say("the release of %s could not be confirmed: it is free when the session has expired, in %v at the latest", l.path, timeout)
	}
}

// acquire connects and takes the lock. The error is an exit.
func (l *lock) acquire(ctx context.Context) (*locks.Lease, error) {
	if l.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.timeout)
		defer cancel()
	}
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	acquire := l.mutex.Acquire
	if l.try {
		acquire = l.mutex.TryAcquire
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, connectTimeout)
		defer cancel()
	}
	lease, err := acquire(ctx)
	if err != nil {
		if errors.Is(err, locks.ErrNotAcquired) {
			return nil, l.notAcquired(ctx)
		}
		return nil, l.explain(err)
	}
	return lease, nil
}

// connect starts the client and waits for the first connection.
func (l *lock) connect(ctx context.Context) error {
	timeout := connectTimeout
	if l.timeout > 0 {
		timeout = min(timeout, l.timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, connected := l.dialer.whileConnecting(ctx)
	defer connected()
	err := l.client.Start(ctx)
	if err == nil {
		err = l.client.BlockUntilConnected(ctx)
	}
	var cause *hopeless
	switch {
	case err == nil:
		return nil
	case errors.As(context.Cause(ctx), &cause):
		return exitWith(exitUnavailable, "%v", cause)
	case errors.Is(err, context.DeadlineExceeded):
		return exitWith(exitUnavailable, "no ZooKeeper server answered at %s within %v: %v", l.ensemble, timeout, err)
	}
	return l.explain(err)
}

// explain gives an error of the lock its exit code.
func (l *lock) explain(err error) error {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	switch {
	case is(framework.ErrNoAuth, framework.ErrAuthFailed):
		return exitWith(exitForbidden, "%v", err)
	case is(framework.ErrNoNode) && l.ensemble.chroot != "":
		return usage("the chroot %s of %s does not exist", l.ensemble.chroot, l.ensemble)
	case is(locks.ErrKindMismatch, framework.ErrInvalidPath, framework.ErrNoChildrenForEphemerals):
		return usage("%v", err)
	case is(framework.ErrConnectionLoss, framework.ErrSessionExpired, context.DeadlineExceeded, context.Canceled):
		return exitWith(exitUnavailable, "%v", err)
	}
	return exitWith(exitInternal, "%v", err)
}

// hold runs CMD under the lease and releases it. It tells whether the lock's node is known
// to be gone, or nobody needs to know.
func (l *lock) hold(ctx context.Context, lease *locks.Lease) (released bool, err error) {
	l.cmd.Env = append(l.cmd.Env, envToken+"="+strconv.FormatInt(lease.Token(), 10))
	if err := lease.Err(); err != nil {
		_ = l.release(ctx, lease, lostTimeout)
		return true, exitWith(exitLost, "%v: the command was not started", err)
	}
	l.signals.addPassedOn()
	terminal := openTerminal(l.stdin, l.stdout, l.stderr)
	defer terminal.close()
	command, err := startCommand(l.cmd, terminal)
	if err != nil {
		return l.release(ctx, lease, releaseTimeout) == nil, cannotRun(l.cmd.Args[0], err)
	}
	s := &supervisor{
		notes: l.notes, client: l.client, lease: lease, grace: l.grace, maxHold: l.maxHold,
		signals: l.signals, terminal: terminal, command: command,
	}
	end := s.wait(ctx)
	terminal.takeBack(command)
	if end.lost {
		_ = l.release(ctx, lease, lostTimeout) // it is lost, whatever became of the node
		return true, &exit{code: exitLost}
	}
	releaseErr := l.release(ctx, lease, releaseTimeout)
	switch {
	case errors.Is(releaseErr, locks.ErrLockLost):
		err = exitWith(exitLost, "%v: it was lost before the release, the command had ended with %d", releaseErr, end.code)
	case end.overdue:
		err = &exit{code: exitMaxHold}
	case end.code != 0:
		err = &exit{code: end.code}
	}
	return !errors.Is(releaseErr, locks.ErrReleasePending), err
}

// release releases the lease; a signal ends the wait for the confirmation.
func (l *lock) release(ctx context.Context, lease *locks.Lease, timeout time.Duration) error {
	_, err := l.signals.until(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return lease.Release(ctx)
	})
	if err != nil {
		return fmt.Errorf("release %s: %w", l.path, err)
	}
	return nil
}
