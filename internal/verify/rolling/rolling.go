// Package rolling tests a rolling upgrade: an ensemble of three servers goes from one release of ZooKeeper to
// the next, one server at a time, and back, while all recipes work.
//
// Two kinds of clients see it. The workers of internal/verify/chaos are processes that use every recipe, and
// chaos judges their history. The witnesses are clients of this process. From the beginning to the end each of
// them holds a mutex, a read lock, a write lock, a lease of a semaphore, a leadership and an ephemeral node, and
// keeps a cache of a tree that all of them change, together with a counter. All clients have the session error
// policy, under which a lease outlives its connection. So no step may cost a lease.
//
// After each step the witnesses ask the quorum for all that they hold (locks.Lease.Verify), compare the counter
// with the increments, and the caches with the nodes. Nothing is judged by how long it takes, but there are
// bounds, and a session ends if a step leaves the ensemble without a quorum for as long as its timeout.
//
// On the newest release each way follows in which a server can end the connections of its clients while it goes
// on: the command shed_connections of its AdminServer, the operation terminateConnection of its JMX beans, and a
// reconfiguration that removes it. A release that has no such way says so in its row.
//
// The parts: releases.go finds releases, observer.go and witness.go have the witnesses, steps.go and moves.go do
// the steps, row.go has what they have cost, and judges it.
package rolling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos"
	"github.com/go-curator/curator/internal/verify/chaos/check"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/matrix"
	"github.com/go-curator/curator/tools/curatortest"
)

// Config says what is run.
type Config struct {
	Releases  []matrix.Release // from the first to the last, and back
	Session   time.Duration    // the session timeout of all clients, in ten ticks of the servers
	Pause     time.Duration    // how long the load lasts before a step, and after it
	Clients   int              // the number of witnesses
	Foreign   bool             // Java Curator and kazoo take part in the load, if they are installed
	OneWay    bool             // not back
	Standard  bool             // the witnesses have the standard error policy, under which steps must cost leases
	Workloads []string         // of the workers; all without any
	Seed      uint64           // of the workers
	Log       string           // the file for the history, by default a temporary one
}

// check returns an error for what makes no sense.
func (c Config) check() error {
	switch {
	case len(c.Releases) < 2:
		return fmt.Errorf("-homes must name two releases or more, not %d", len(c.Releases))
	case c.Clients < 1:
		return fmt.Errorf("-clients must be at least 1, not %d", c.Clients)
	case c.Pause < 0:
		return fmt.Errorf("-pause must not be negative, but it is %v", c.Pause)
	case c.Session < 10*time.Second:
		return fmt.Errorf("-session must be at least 10s, not %v", c.Session)
	}
	return nil
}

// Run runs all steps, and writes the table and what became of the load to out. Its error says what the results
// should not be, see Judge, and with Standard that nothing was lost; or that the load has a violation, or lost a
// lease; or why there is no result.
func Run(ctx context.Context, c Config, out, progress io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	r := &roller{Config: c, progress: progress}
	begin := time.Now()
	report, err := chaos.Operate(ctx, chaos.Config{
		Session: c.Session, Seed: c.Seed, Workloads: c.Workloads, WithoutForeign: !c.Foreign, WithoutModel: true, Progress: progress, Log: c.Log,
	}, chaos.Operation{
		Servers: []curatortest.Option{
			curatortest.WithHome(c.Releases[0].Home), curatortest.WithReconfig(), curatortest.WithAdminServer(),
		},
		Do: r.roll,
	})
	if _, e := io.WriteString(out, Table(r.rows)); err != nil || e != nil {
		return errors.Join(err, e)
	}
	lost := lostLeases(report.Events())
	_, err = fmt.Fprintf(out, "\nThe load, seed %d: %d holds, of which %d were lost; %d writes of registers, %d effects of items, %d rounds of the barrier, %d snapshots; violations: %d. It took %v.\n",
		c.Seed, total(report.Holds), len(lost), report.Writes, report.Effects, report.Rounds, report.Snapshots, len(report.Violations), time.Since(begin).Round(time.Second))
	if err == nil && len(report.Violations) > 0 {
		_, err = io.WriteString(out, report.String())
	}
	return errors.Join(err, c.judge(r.rows, report.Result, lost))
}

// judge returns an error for what the results should not be. The load is judged with each policy of the witnesses:
// its workers always have the session policy.
func (c Config) judge(rows []Row, result check.Result, lost []history.Event) error {
	steps := Judge
	if c.Standard {
		steps = judgeStandard
	}
	return errors.Join(steps(rows), judgeLoad(result, lost))
}

// judgeStandard returns an error if no lease was lost under the standard policy: then this package does not
// notice losses.
func judgeStandard(rows []Row) error {
	for _, r := range rows {
		if len(r.Lost) > 0 {
			return nil
		}
	}
	return errors.New("no lease was lost under the standard error policy, so this program does not notice losses")
}

// total returns the sum of counts.
func total(counts map[string]int) (n int) {
	for _, m := range counts {
		n += m
	}
	return n
}

// judgeLoad returns an error if the load has a violation, has lost a lease, or shows nothing.
func judgeLoad(result check.Result, lost []history.Event) error {
	var errs []error
	if n := len(result.Violations); n > 0 {
		errs = append(errs, fmt.Errorf("the load has %d violations", n))
	}
	for _, e := range lost {
		errs = append(errs, fmt.Errorf("the load: %s has lost its lease of %s: %s", e.Process, e.Workload, e.Text))
	}
	if total(result.Holds) == 0 {
		errs = append(errs, errors.New("the load: nothing was held, so it shows nothing"))
	}
	return errors.Join(errs...)
}

// lostLeases returns the loss of each lease of workers of ours, by the operation that had it.
func lostLeases(events []history.Event) (lost []history.Event) {
	type operation struct {
		process string
		op      int64
	}
	known := map[operation]bool{}
	for _, e := range events {
		is := e.Kind == history.Lost || e.Kind == history.Released && e.Text == history.ReleaseLost
		if o := (operation{e.Process, e.Op}); is && !check.IsForeign(e.Process) && !known[o] {
			known[o] = true
			lost = append(lost, e)
		}
	}
	return lost
}
