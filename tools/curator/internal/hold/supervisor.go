package hold

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/console"
)

const (
	// leftPause is how long the rest of the group may run after CMD's own process before the user
	// is told.
	leftPause = time.Second
	// deathPause is how long supervisor waits after SIGKILL until the group is empty.
	deathPause = time.Second
)

// outcome is how CMD ended.
type outcome struct {
	code    int
	killed  bool // a signal ended it
	lost    bool // the lock was lost while it ran
	overdue bool // it ran longer than --max-hold
}

// supervisor watches a CMD that runs under a lock.
type supervisor struct {
	notes    *console.Notes
	client   *framework.Client
	lease    *locks.Lease
	grace    time.Duration
	maxHold  time.Duration // zero is no limit
	signals  *console.Signals
	terminal *terminal
	command  *command

	outcome outcome
	ended   bool             // CMD's own process has ended
	killAt  time.Time        // zero is never
	kill    <-chan time.Time // fires at killAt
	killed  <-chan time.Time // fires deathPause after SIGKILL
	left    <-chan time.Time // fires when the user is told that the rest of the group still runs
}

// wait returns when CMD's whole process group has ended. Until then it passes signals on, and ends
// the group if the lock is lost or CMD runs too long.
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
		case sig := <-s.signals.C:
			s.pass(sig)
		case <-overdue:
			s.outcome.overdue = true
			s.notes.Say("the command has run for %v: it gets SIGTERM, and SIGKILL in %v", s.maxHold, s.grace)
			s.end(s.grace)
		case <-given:
			given = nil
			s.end(s.grace)
		case <-s.kill:
			if err := s.command.kill(); err != nil {
				s.notes.Say("cannot kill the command: %v", err)
			}
			s.killed = time.After(deathPause)
		case <-s.killed:
			if s.ended {
				return s.outcome // the rest are zombies whose parents do not wait for them
			}
			s.killed = time.After(deathPause)
		case <-s.left:
			s.notes.Say("the command has ended, but other processes of its process group have not: waiting with the lock held")
		}
	}
}

// happened handles an event of the command.
func (s *supervisor) happened(e event) {
	switch {
	case e.stopped != nil:
		s.stopped(e.stopped)
	case e.killed: // CMD cannot end the rest of its group any more
		s.ended, s.outcome.code, s.outcome.killed = true, e.code, true
		s.end(s.grace)
	default:
		s.ended, s.outcome.code = true, e.code
		if s.killAt.IsZero() {
			s.left = time.After(leftPause)
		}
	}
}

// stopped is called when CMD was stopped by sig. It continues CMD unless CMD should stay stopped. The
// lock may have been lost while this process was stopped, too, so it checks the lease first.
func (s *supervisor) stopped(sig os.Signal) {
	if s.outcome.lost {
		s.command.resume() // so that it can handle SIGTERM
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
		// The client reports the loss an eighth of the session timeout before the session can
		// expire, its margin. A fifth of that remains for SIGKILL to take effect.
		grace = min(grace, s.client.SessionTimeout()/8*4/5)
	}
	s.end(grace)
	s.notes.Say("%v: the command gets SIGTERM, and SIGKILL in %v", why, grace.Round(time.Millisecond))
}

// end asks CMD to end, and makes supervisor kill it after grace.
func (s *supervisor) end(grace time.Duration) {
	s.left = nil
	s.command.terminate()
	if at := time.Now().Add(grace); s.killAt.IsZero() || at.Before(s.killAt) {
		s.killAt = at
		s.kill = time.After(grace)
	}
}

// pass passes a signal on to CMD. This process may have been stopped until now, so pass checks the
// lease first.
func (s *supervisor) pass(sig os.Signal) {
	if s.lease.Err() != nil {
		s.lose()
	}
	if n, ok := sig.(syscall.Signal); ok && n != syscall.SIGPIPE {
		s.command.pass(n)
	}
}
