// Package protocoltest checks that a program is a valid peer of package protocol.
package protocoltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/installed"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
	"github.com/go-curator/curator/tools/curatortest"
)

// TB is the part of testing.TB that this package uses; the package testing is not linked.
type TB interface {
	curatortest.TB
	Context() context.Context
	TempDir() string
}

// patience bounds the time for all workloads, also on a slow machine.
const patience = 2 * time.Minute

// holderTimeout is the session timeout of a holder that is killed.
const holderTimeout = 4 * time.Second

// Peer has the expected properties of a program.
type Peer struct {
	Workloads []string // all workloads that it has

	// Sessionless says that a lock is free as soon as the holder's process has ended, because there
	// is no session that must expire first.
	Sessionless bool
}

// CheckOnZooKeeper is Check for a program that uses ZooKeeper. It starts a server, which does not remove
// empty containers: Java Curator's discovery fails if that happens while it registers. If a part of the
// program is not installed, the test fails with CI=true, and otherwise logs that.
func (p Peer) CheckOnZooKeeper(t TB, program func(ctx context.Context, dir, address string) (*exec.Cmd, error)) {
	t.Helper()
	server := curatortest.Real(t, curatortest.WithContainerCheckInterval(time.Hour))
	cmd, err := program(t.Context(), t.TempDir(), server.ConnectString())
	var absent *installed.AbsentError
	switch {
	case errors.As(err, &absent) && os.Getenv("CI") != "true":
		t.Logf("%v", err)
	case err != nil:
		t.Fatalf("%v", err)
	default:
		p.Check(t, cmd)
	}
}

// Check starts a program and runs every workload.
func (p Peer) Check(t TB, cmd *exec.Cmd) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	peer, err := protocol.Start(ctx, cmd)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	t.Cleanup(func() {
		if err := peer.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	for i, r := range short() {
		r.Path = fmt.Sprintf("/bench/x%d", i)
		result, err := runOne(ctx, peer, &r)
		if !slices.Contains(p.Workloads, r.Workload) {
			if !errors.Is(err, protocol.ErrUnsupported) {
				t.Errorf("%s: %+v, %v; want it unsupported", r.Workload, result, err)
			}
			continue
		}
		if err == nil {
			err = possible(r, result)
		}
		if err != nil {
			t.Errorf("%s: %v", r.Workload, err)
		}
	}
	if slices.Contains(p.Workloads, protocol.Hold) {
		p.checkCrash(ctx, t, peer, cmd)
	}
}

// short returns requests that take as little time as possible: one for each workload of locks, and some
// for the other recipes.
func short() []protocol.Request {
	return []protocol.Request{
		{Workload: protocol.Solo},
		{Workload: protocol.Contend, Clients: 3},
		{Workload: protocol.Spread, Clients: 3},
		{Workload: protocol.Semaphore, Clients: 3, Leases: 2},
		{Workload: protocol.Readers, Clients: 3},
		{Workload: protocol.Mix, Clients: 3, Writes: 50},
		{Workload: protocol.Reentry, Clients: 1},
		{Workload: protocol.TryFree, Clients: 1},
		{Workload: protocol.TryBusy, Clients: 2},
		{Workload: protocol.Floor, Clients: 2},
		{Workload: protocol.Drain, Clients: 2, Waiters: 5},
		{Workload: protocol.LeaderJoin, Clients: 1},
		{Workload: protocol.LeaderSuccession, Clients: 2, Waiters: 5},
		{Workload: protocol.CacheLoad, Clients: 1, Waiters: 300},
		{Workload: protocol.CacheFollow, Clients: 2},
		{Workload: protocol.DiscoveryRegister, Clients: 1},
		{Workload: protocol.DiscoveryChoose, Clients: 1},
		{Workload: protocol.DiscoveryQuery, Clients: 1, Waiters: 50},
		{Workload: "no such thing"},
	}
}

// runOne runs a request. While no operation has ended in its time, it runs the request again for twice
// as long, because it does not measure the speed.
func runOne(ctx context.Context, peer *protocol.Peer, r *protocol.Request) (protocol.Result, error) {
	for r.WarmupMS, r.DurationMS = 20, 100; ; r.DurationMS *= 2 {
		result, err := peer.Run(ctx, *r)
		if err != nil || result.Operations != 0 {
			return result, err
		}
	}
}

// possible returns an error if the result is impossible for the request.
func possible(r protocol.Request, result protocol.Result) error {
	if r.Workload == protocol.CacheLoad || r.Workload == protocol.CacheFollow { // their latencies are not those of the operations
		if result.Operations == 0 || len(result.LatenciesNS) == 0 || result.ElapsedNS <= 0 {
			return fmt.Errorf("%+v", result)
		}
		return nil
	}
	if int64(len(result.LatenciesNS)) != min(result.Operations, protocol.MaxLatencies) {
		return fmt.Errorf("%d latencies of %d operations", len(result.LatenciesNS), result.Operations)
	}
	var sum int64
	for _, latency := range result.LatenciesNS {
		if latency < 1 {
			return fmt.Errorf("a latency of %d", latency)
		}
		sum += latency
	}
	if r.Workload == protocol.Drain || r.Workload == protocol.LeaderSuccession {
		if result.Operations != int64(r.Waiters) || sum > result.ElapsedNS {
			return fmt.Errorf("%+v", result)
		}
		return nil
	}
	// A client does one operation after the other. The first one that is counted may have begun during
	// the warm-up.
	if limit := int64(r.ClientCount()) * int64(r.Warmup()+r.Duration()); result.ElapsedNS != int64(r.Duration()) || sum > limit {
		return fmt.Errorf("latencies of %d in %d ns", sum, result.ElapsedNS)
	}
	return nil
}

// checkCrash kills a holder, and checks when the next contender gets the lock.
func (p Peer) checkCrash(ctx context.Context, t TB, peer *protocol.Peer, cmd *exec.Cmd) {
	t.Helper()
	// The last request of the holder may be a third of the timeout ago. The session timeout of the
	// other workloads is 30 s.
	earliest, latest := holderTimeout/2, 5*holderTimeout
	if p.Sessionless {
		earliest, latest = 0, holderTimeout/2
	}
	took, err := peer.Outlive(ctx, cmd, "/bench/crash", holderTimeout)
	t.Logf("the next contender had the lock after %v", took)
	if err != nil || took < earliest || took > latest {
		t.Errorf("after the holder's end it took %v, %v", took, err)
	}
}
