package peers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/internal/installed"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
	"github.com/go-curator/curator/tools/bench/internal/service"
	"github.com/go-curator/curator/tools/bench/peers"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// makePeer is one of the functions under test.
type makePeer func(ctx context.Context, dir, address string) (*exec.Cmd, error)

// short are requests that take no longer than they must, one for every workload.
var short = []protocol.Request{
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

// patience is how long a peer may take for all of them on a slow machine.
const patience = 2 * time.Minute

// runAll starts a peer and has it run every workload; supported names those that it has.
func runAll(t *testing.T, cmd *exec.Cmd, supported ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	peer, err := protocol.Start(ctx, cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() }) // when the test ends early; else it has been closed
	for i, r := range short {
		r.Path = fmt.Sprintf("/bench/x%d", i)
		result, err := runOne(ctx, peer, &r)
		if !slices.Contains(supported, r.Workload) {
			if !errors.Is(err, protocol.ErrUnsupported) {
				t.Errorf("%s: %+v, %v; want it unsupported", r.Workload, result, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", r.Workload, err)
			continue
		}
		check(t, r, result)
	}
	if slices.Contains(supported, protocol.Hold) {
		checkCrash(ctx, t, peer, cmd)
	}
	if err := peer.Close(); err != nil {
		t.Error(err)
	}
}

// runOne runs a request, and again for twice as long while nothing has ended in the time: how
// much does, in how long, is for the benchmark to say.
func runOne(ctx context.Context, peer *protocol.Peer, r *protocol.Request) (protocol.Result, error) {
	for r.WarmupMS, r.DurationMS = 20, 100; ; r.DurationMS *= 2 {
		result, err := peer.Run(ctx, *r)
		if err != nil || result.Operations != 0 {
			return result, err
		}
	}
}

// check fails if the result cannot be one of the request.
func check(t *testing.T, r protocol.Request, result protocol.Result) {
	t.Helper()
	if r.Workload == protocol.CacheLoad || r.Workload == protocol.CacheFollow { // whose latencies are other things
		if result.Operations == 0 || len(result.LatenciesNS) == 0 || result.ElapsedNS <= 0 {
			t.Errorf("%s: %+v", r.Workload, result)
		}
		return
	}
	if int64(len(result.LatenciesNS)) != min(result.Operations, protocol.MaxLatencies) {
		t.Errorf("%s: %d latencies of %d operations", r.Workload, len(result.LatenciesNS), result.Operations)
	}
	var sum int64
	for _, latency := range result.LatenciesNS {
		if latency < 1 {
			t.Errorf("%s: a latency of %d", r.Workload, latency)
		}
		sum += latency
	}
	if r.Workload != protocol.Drain && r.Workload != protocol.LeaderSuccession {
		// A client does one after the other; one that ends in the time may have begun before.
		if limit := int64(r.ClientCount()) * int64(r.Warmup()+r.Duration()); result.ElapsedNS != int64(r.Duration()) || sum > limit {
			t.Errorf("%s: latencies of %d in %d ns", r.Workload, sum, result.ElapsedNS)
		}
	} else if result.Operations != int64(r.Waiters) || sum > result.ElapsedNS {
		t.Errorf("%s: %+v", r.Workload, result)
	}
}

// checkCrash has a holder killed whose session lasts 4 s.
func checkCrash(ctx context.Context, t *testing.T, peer *protocol.Peer, cmd *exec.Cmd) {
	t.Helper()
	const timeout = 4 * time.Second
	// What the service has heard of the holder last may be a third of the timeout ago; the
	// sessions of the other workloads would last 30 s. PostgreSQL sees a connection end.
	earliest, latest := timeout/2, 5*timeout
	if strings.HasSuffix(cmd.Path, "sql") {
		earliest, latest = 0, timeout/2
	}
	took, err := peer.Outlive(ctx, cmd, "/bench/crash", timeout)
	t.Logf("the next one had the lock after %v", took)
	if err != nil || took < earliest || took > latest {
		t.Errorf("after the holder's end it took %v, %v", took, err)
	}
}

// onZooKeeper tests a peer that uses ZooKeeper. Where CI is true it has to be there.
func onZooKeeper(t *testing.T, makePeer makePeer, supported ...string) {
	t.Helper()
	cmd, err := makePeer(t.Context(), t.TempDir(), curatortest.Real(t).ConnectString())
	var absent *installed.AbsentError
	switch {
	case errors.As(err, &absent) && os.Getenv("CI") != "true":
		t.Log(err)
	case err != nil:
		t.Fatal(err)
	default:
		runAll(t, cmd, supported...)
	}
}

func TestJava(t *testing.T) {
	onZooKeeper(t, peers.Java, protocol.Solo, protocol.Contend, protocol.Spread, protocol.Semaphore,
		protocol.Readers, protocol.Mix, protocol.Reentry, protocol.TryFree, protocol.TryBusy, protocol.Floor, protocol.Drain, protocol.Hold,
		protocol.LeaderJoin, protocol.LeaderSuccession, protocol.CacheLoad, protocol.CacheFollow,
		protocol.DiscoveryRegister, protocol.DiscoveryChoose, protocol.DiscoveryQuery)
}

func TestKazoo(t *testing.T) {
	onZooKeeper(t, peers.Kazoo, protocol.Solo, protocol.Contend, protocol.Spread, protocol.Semaphore,
		protocol.Readers, protocol.TryFree, protocol.TryBusy, protocol.Floor, protocol.Drain, protocol.Hold)
}

// onService tests a peer in Go, if its service is there, and the modules that it imports:
// a test downloads nothing.
func onService(t *testing.T, start func(context.Context) (*service.Server, error), makePeer makePeer, supported ...string) {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	var absent *installed.AbsentError
	server, err := start(t.Context())
	if errors.As(err, &absent) {
		t.Log(err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	cmd, err := makePeer(t.Context(), t.TempDir(), server.Address())
	if errors.As(err, &absent) && strings.Contains(err.Error(), "GOPROXY=off") {
		t.Log(err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	runAll(t, cmd, supported...)
}

func TestEtcd(t *testing.T) {
	onService(t, service.Etcd, peers.Etcd, protocol.Solo, protocol.Contend, protocol.Spread,
		protocol.TryFree, protocol.TryBusy, protocol.Floor, protocol.Drain, protocol.Hold)
}

func TestSQLInsert(t *testing.T) {
	onService(t, service.PostgreSQL, peers.SQLInsert, protocol.Solo, protocol.Contend, protocol.Spread, protocol.TryFree, protocol.TryBusy)
}

func TestSQLUpdate(t *testing.T) {
	onService(t, service.PostgreSQL, peers.SQLUpdate, protocol.Solo, protocol.Contend, protocol.Spread,
		protocol.Readers, protocol.Mix, protocol.TryFree, protocol.TryBusy, protocol.Hold)
}

// What is missing is named, whatever this machine has.
func TestAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	for want, makePeer := range map[string]makePeer{"java": peers.Java, "go": peers.Etcd} {
		_, err := makePeer(t.Context(), t.TempDir(), "127.0.0.1:1")
		if absent := new(installed.AbsentError); !errors.As(err, &absent) || absent.Name != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Modules that are neither there nor to be had are absent, too.
func TestAbsentModules(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	for _, makePeer := range []makePeer{peers.Etcd, peers.SQLInsert} {
		_, err := makePeer(t.Context(), t.TempDir(), "127.0.0.1:1")
		if absent := new(installed.AbsentError); !errors.As(err, &absent) || !strings.Contains(absent.Install, "mod download") {
			t.Error(err)
		}
	}
}

// A peer that cannot reach its service says so, and ends.
func TestNoService(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	cmd, err := peers.SQLUpdate(t.Context(), t.TempDir(), "127.0.0.1:1") // nobody listens there
	if absent := new(installed.AbsentError); errors.As(err, &absent) {
		t.Log(err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := protocol.Start(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}
