package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

const (
	// releaseTimeout bounds the wait for the confirmation of a release, and lostTimeout that for a
	// lock that was lost.
	releaseTimeout = 5 * time.Second
	lostTimeout    = 500 * time.Millisecond
)

// holding is one run of CMD under a lock.
type holding struct {
	*session
	runFlags
	kind kind
	path string
	cmd  *exec.Cmd
	lock locks.InterProcessLock
}

// runCommand returns the command of curator that runs CMD under a lock of the kind k.
func (p *program) runCommand(k kind) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:     k.name + " [flags] PATH -- CMD [ARG...]",
		Short:   k.short,
		Long:    k.help,
		Example: k.example,
	}
	set := cmd.Flags()
	flags.add(set, k)
	p.completePaths(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !slices.Contains(p.args, "--") {
			return usage("%s", noDash(k.name, set, p.args))
		}
		return usage("%v; see %s --help", err, cmd.CommandPath())
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, argv, err := p.splitRunArgs(k.name, set, args, cmd.ArgsLenAtDash())
		if err == nil {
			err = flags.complete(p, k, argv)
		}
		if err != nil {
			return err
		}
		h, err := p.newHolding(k, flags, path, argv)
		if err != nil {
			return err
		}
		return h.run(cmd.Context())
	}
	return cmd
}

// newHolding returns a holding, after it has checked all that can be checked without a server.
func (p *program) newHolding(k kind, flags runFlags, path string, argv []string) (*holding, error) {
	h := &holding{runFlags: flags, kind: k, path: path}
	var local *embedded
	if flags.embedded {
		local = &embedded{address: parseEnsemble(p.settings.Connect).servers[0], notes: p.notes}
	}
	var err error
	if h.session, err = p.newSession(local, framework.WithOwnerLabel(ownerLabel(k, argv))); err != nil {
		return nil, err
	}
	h.dialer.embeds = true
	if h.lock, err = k.open(h.client, path, flags); err != nil {
		return nil, usage("%v", err)
	}
	entry, held := p.heldLocks(h.ensemble, path)
	if held {
		return nil, usage("%s %q is held by the curator that this one runs under (see %s, %s): it would wait for itself", k.noun, path, envPath, envHeld)
	}
	if h.cmd, err = p.lookUp(argv); err != nil {
		return nil, err
	}
	h.cmd.Env = append(slices.Clone(p.env), envPath+"="+path, envHeld+"="+strings.TrimSpace(p.getenv(envHeld)+" "+entry))
	return h, nil
}

// run takes the lock, runs CMD and releases.
func (h *holding) run(ctx context.Context) error {
	h.signals = listenSignals()
	defer h.signals.stop()
	if h.verbose {
		defer h.tellStates()()
	}
	var lease *locks.Lease
	interrupted, err := h.signals.until(ctx, func(ctx context.Context) (err error) {
		lease, err = h.acquire(ctx)
		return err
	})
	released := true
	switch {
	case err == nil && interrupted == nil:
		released, err = h.hold(ctx, lease)
	case interrupted != nil:
		released = h.release(ctx, lease, releaseTimeout) == nil
		err = &exit{code: signalCode(interrupted.signal)}
	}
	timeout := h.client.SessionTimeout()
	if closed := h.close(ctx); closed != nil && !released {
		h.notes.say("the release of %s could not be confirmed: it becomes free when the session expires, in %v at the latest", h.path, timeout)
	}
	h.dialer.embedded.leave(ctx, h.signals)
	return err
}

// acquire connects and takes the lock. The error is an exit.
func (h *holding) acquire(ctx context.Context) (*locks.Lease, error) {
	first := connectTimeout
	if h.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.timeout)
		defer cancel()
		first = min(first, h.timeout)
	}
	if err := h.connect(ctx, first); err != nil {
		return nil, err
	}
	acquire := h.lock.Acquire
	if h.try {
		acquire = h.lock.TryAcquire
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, connectTimeout)
		defer cancel()
	} else {
		defer h.tellWaiting(ctx)()
	}
	lease, err := acquire(ctx)
	if err != nil {
		if errors.Is(err, locks.ErrNotAcquired) {
			return nil, h.notAcquired(ctx)
		}
		return nil, h.explain(err)
	}
	return lease, nil
}

// hold runs CMD under the lease and releases the lease. released is false if the lock's node may
// still exist and keep others from the lock.
func (h *holding) hold(ctx context.Context, lease *locks.Lease) (released bool, err error) {
	h.cmd.Env = append(h.cmd.Env, envToken+"="+strconv.FormatInt(lease.Token(), 10))
	if err := lease.Err(); err != nil {
		_ = h.release(ctx, lease, lostTimeout)
		return true, exitWith(exitLost, "%v: the command was not started", err)
	}
	h.signals.addPassedOn()
	terminal := openTerminal(h.stdin, h.stdout.file, h.stderr)
	defer terminal.close()
	command, err := startCommand(h.cmd, terminal, h.self)
	if err != nil {
		return h.release(ctx, lease, releaseTimeout) == nil, cannotRun(h.cmd.Args[0], err)
	}
	s := &supervisor{
		notes: h.notes, client: h.client, lease: lease, grace: h.grace, maxHold: h.maxHold,
		signals: h.signals, terminal: terminal, command: command,
	}
	end := s.wait(ctx)
	terminal.takeBack(command)
	if end.killed {
		terminal.restore()
	}
	if end.lost {
		_ = h.release(ctx, lease, lostTimeout) // the lock is lost, whether the release succeeds or not
		return true, &exit{code: exitLost}
	}
	releaseErr := h.release(ctx, lease, releaseTimeout)
	switch {
	case errors.Is(releaseErr, locks.ErrLockLost):
		err = exitWith(exitLost, "%v: the lock was lost before the release; the command had ended with status %d", releaseErr, end.code)
	case end.overdue:
		err = &exit{code: exitMaxHold}
	case end.code != 0:
		err = &exit{code: end.code}
	}
	return !errors.Is(releaseErr, locks.ErrReleasePending), err
}

// release releases the lease. A signal ends the wait for the confirmation.
func (h *holding) release(ctx context.Context, lease *locks.Lease, timeout time.Duration) error {
	_, err := h.signals.until(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return lease.Release(ctx)
	})
	if err != nil {
		return fmt.Errorf("release %s: %w", h.path, err)
	}
	return nil
}
