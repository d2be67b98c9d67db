package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

const (
	// leftPause is how long what CMD left behind may run before the user is told.
	leftPause = time.Second
	// deathPause is how long killed processes may take to disappear.
	deathPause = time.Second
)

// outcome is how CMD ended.
type outcome struct {
	code    int
	killed  bool // a signal ended it
	lost    bool // the lock was lost while it ran
	overdue bool // it ran longer than --max-hold
}

// supervisor looks after a CMD that runs under a lock.
type supervisor struct {
	notes    *notes
	client   *framework.Client
	lease    *locks.Lease
	grace    time.Duration
	maxHold  time.Duration // zero is no limit
	signals  *signals
	terminal *terminal
	command  *command

	outcome outcome
	ended   bool             // CMD's own process has ended
	killAt  time.Time        // zero is never
	kill    <-chan time.Time // at killAt
	killed  <-chan time.Time // when to wait no more for what was killed
	left    <-chan time.Time // when to tell of what CMD left behind
}

// wait returns when CMD and what it left behind in its process group have ended. Until
// then it ends them if the lock is lost, and passes signals on.
func (s *supervisor) wait(ctx context.Context) outcome {
	lost, given := s.lease.Context().Done(), ctx.Done()
	var overdue <-chan time.Time
	if s.maxHold > 0 {
		timer := time.NewTimer(s.maxHold)
		defer timer.Stop()
		overdue = timer.C
	}
	for {
		select {
		case <-s.command.gone:
			return s.outcome
		case e := <-s.command.events:
			s.happened(e)
		case <-lost:
			lost = nil
			s.lose()
		case sig := <-s.signals.ch:
			s.pass(sig)
		case <-overdue:
			s.outcome.overdue = true
			s.notes.say("the command has run for %v: it gets SIGTERM, and SIGKILL in %v", s.maxHold, s.grace)
			s.end(s.grace)
		case <-given:
			given = nil
			s.end(s.grace)
		case <-s.kill:
			if err := s.command.kill(); err != nil {
				s.notes.say("cannot kill the command: %v", err)
			}
			s.killed = time.After(deathPause)
		case <-s.killed:
			if s.ended {
				return s.outcome // what is left are entries that nobody waits for
			}
			s.killed = time.After(deathPause)
		case <-s.left:
			s.notes.say("the command has ended, but not what it left in its process group: waiting with the lock held")
		}
	}
}

// happened follows CMD.
func (s *supervisor) happened(e event) {
	switch {
	case e.stopped != nil:
		s.stopped(e.stopped)
	case e.killed: // nobody is in charge any more of what it left behind
		s.ended, s.outcome.code, s.outcome.killed = true, e.code, true
		s.end(s.grace)
	default:
		s.ended, s.outcome.code = true, e.code
		if s.killAt.IsZero() {
			s.left = time.After(leftPause)
		}
	}
}

// stopped lets a stopped CMD go on if it is to. A stop takes time, in which the lock may
// have been lost: so that is looked at before.
func (s *supervisor) stopped(sig os.Signal) {
	if s.outcome.lost {
		s.command.resume() // to its end
		return
	}
	if !s.terminal.suspend(sig) {
		return
	}
	if s.lease.Err() != nil {
		s.lose()
		return
	}
	s.terminal.handOver(s.command)
	s.command.resume()
}

// lose ends CMD because the lock is lost.
func (s *supervisor) lose() {
	if s.outcome.lost {
		return
	}
	s.outcome.lost = true
	grace, why := s.grace, s.lease.Err()
	var loss *locks.LossError
	if errors.As(why, &loss) && loss.Reason == locks.LossDeadline {
		// For the client's margin, an eighth of the session timeout, nobody else can be let
		// in. A fifth of that is left for SIGKILL to take effect.
		grace = min(grace, s.client.SessionTimeout()/8*4/5)
	}
	s.end(grace)
	s.notes.say("%v: the command gets SIGTERM, and SIGKILL in %v", why, grace.Round(time.Millisecond))
}

// end asks CMD to end, and ends it after grace.
func (s *supervisor) end(grace time.Duration) {
	s.left = nil
	s.command.terminate()
	if at := time.Now().Add(grace); s.killAt.IsZero() || at.Before(s.killAt) {
		s.killAt = at
		s.kill = time.After(grace)
	}
}

// pass passes a signal on. It may be the first that we notice after we were stopped
// ourselves, so that the lock is looked at before.
func (s *supervisor) pass(sig os.Signal) {
	if s.lease.Err() != nil {
		s.lose()
	}
	if n, ok := sig.(syscall.Signal); ok && n != syscall.SIGPIPE {
		s.command.pass(n)
	}
}
