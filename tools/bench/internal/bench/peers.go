package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/bench/internal/java"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// workload is a task that is measured with each peer.
type workload struct {
	name    string
	about   string
	kind    string // its name in the protocol with foreign peers; "" if they do not have it
	clients int    // the number of clients, each with its own session
	waiters int
	leases  int
	writes  int      // the percentage of acquisitions by writers
	quick   bool     // whether it is part of a quick run
	distant bool     // whether it is part of a run with a distance
	repeat  bool     // whether it is short, and is repeated until the turn is over
	local   localRun // nil if it is for foreign peers only
}

// localRun runs a workload with a peer in this process, at a path that nothing else uses.
type localRun func(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error)

// timing has the durations of a turn.
type timing struct{ warmUp, duration time.Duration }

// peer is an implementation that is measured.
type peer interface {
	// run runs a workload at a path that nothing else uses. It returns errUnsupported if the peer does
	// not have the workload.
	run(ctx context.Context, w workload, path string, t timing) (measure.Run, error)
	close() error
}

// PeerKind is a peer that can be started.
type PeerKind struct {
	name  string
	quick bool // whether it is part of a quick run

	open  openFunc // of a peer in this process
	start func(ctx context.Context, s *services) (peer, error)
}

// peerKinds returns the peers of this package, in the order of the report.
func peerKinds() []PeerKind {
	return []PeerKind{
		inProcess("floor", true, opens(dialDriver, alike([]lockKind{bare, uncontended}, newFloor))),
		inProcess("floor-list", true, opens(dialDriver, alike([]lockKind{bare, uncontended, readLock}, newFloorList))),
		inProcess("floor-pair", true, opens(dialPair, alike([]lockKind{bare, uncontended, readLock}, newPair))),
		inProcess("floor-watch", true, opens(dialDriver, alike([]lockKind{mutex}, newFloorWatch))),
		inProcess("raw", false, opens(dialRaw, nil)),
		inProcess(results.Ours, true, opens(dialCurator, curatorKinds)),
		inProcess("curator-v2", false, opens(dialCurator, kinds[*framework.Client]{semaphore: newSemaphoreV2})),
		inProcess("zk.Lock", true, opens(dialDriver, alike([]lockKind{mutex, uncontended}, newDriverLock))),
		OnZooKeeper("java", true, java.Program),
	}
}

// inProcess returns a peer in this process.
func inProcess(name string, quick bool, open openFunc) PeerKind {
	return PeerKind{name: name, quick: quick, open: open, start: func(_ context.Context, s *services) (peer, error) {
		l := &local{name: name, address: s.zooKeeper, open: open}
		if name == results.Ours {
			l.heapProfile = s.heapProfile
		}
		return l, nil
	}}
}

// choosePeers returns the named peers of this package and of more. Without names it returns all, or
// those of a quick run.
func choosePeers(more []PeerKind, named string, quick bool) ([]PeerKind, error) {
	all := slices.Concat(peerKinds(), more)
	if named == "" {
		if quick {
			all = slices.DeleteFunc(all, func(k PeerKind) bool { return !k.quick })
		}
		return all, nil
	}
	var chosen []PeerKind
	for name := range strings.SplitSeq(named, ",") {
		i := slices.IndexFunc(all, func(k PeerKind) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no peer %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// services are the services that the peers connect to, and settings of the peers.
type services struct {
	zooKeeper string        // the connect string for peers in this process
	servers   []string      // ZooKeeper's own addresses
	distance  time.Duration // the delay to all services
	relayed   bool          // foreign peers have relays also without a distance
	warmUp    time.Duration // the warm-up after the start of a server or a peer
	dir       string        // the directory for files of peers; removed at the end

	heapProfile string // the file for a heap profile of our peer; "" for none
}

// newServices returns services with the given ZooKeeper servers, and a function that ends them.
func newServices(servers []string, distance time.Duration, relayed bool) (s *services, end func(), err error) {
	s = &services{servers: servers, distance: distance, relayed: relayed, zooKeeper: strings.Join(servers, ",")}
	if s.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return nil, nil, err
	}
	end = func() { _ = os.RemoveAll(s.dir) } // a temporary directory may remain
	if distance > 0 {
		far, err := newRelays(servers, distance)
		if err != nil {
			end()
			return nil, nil, err
		}
		s.zooKeeper = far.address()
		return s, func() { far.close(); _ = os.RemoveAll(s.dir) }, nil
	}
	return s, end, nil
}

const (
	// tickTime is ZooKeeper's default. That of package curatortest is shorter.
	tickTime = 2 * time.Second
	// sessionTimeout is the timeout of sessions that should not expire.
	sessionTimeout = 40 * time.Second
	// crashTimeout is the session timeout of the holder that is killed: two ticks of the server, the
	// shortest that it grants.
	crashTimeout = 2 * tickTime
)

// local is a peer in this process: ours, or another client in Go.
type local struct {
	name        string
	address     string
	heapProfile string // the file for a heap profile while many goroutines wait; "" for none
	open        openFunc
	counter     measure.Counter

	mu       sync.Mutex
	sessions []*session // they stay open between workloads
}

// run runs a workload. When ctx ends first, run closes the sessions, because some clients wait for a
// lock without a context.
func (l *local) run(ctx context.Context, w workload, path string, t timing) (measure.Run, error) {
	if w.local == nil {
		return measure.Run{}, errUnsupported
	}
	defer context.AfterFunc(ctx, func() { _ = l.close() })() // run returns an error anyway
	return w.local(ctx, l, w, path, t)
}

// close ends the sessions.
func (l *local) close() error {
	l.mu.Lock()
	sessions := l.sessions
	l.sessions = nil
	l.mu.Unlock()
	var errs []error
	for _, s := range sessions {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// connect returns n sessions. It must be called by only one goroutine at a time.
func (l *local) connect(ctx context.Context, n int) ([]*session, error) {
	for {
		l.mu.Lock()
		sessions := l.sessions
		l.mu.Unlock()
		if len(sessions) >= n {
			return sessions[:n], nil
		}
		s, err := l.open(ctx, l.address, sessionTimeout, &l.counter)
		if err != nil {
			return nil, fmt.Errorf("open a session: %w", err)
		}
		l.mu.Lock()
		l.sessions = append(l.sessions, s)
		l.mu.Unlock()
	}
}

// ours returns n clients of our own, and errUnsupported for other peers.
func (l *local) ours(ctx context.Context, n int) ([]*framework.Client, error) {
	if l.name != results.Ours {
		return nil, errUnsupported
	}
	sessions, err := l.connect(ctx, n)
	if err != nil {
		return nil, err
	}
	clients := make([]*framework.Client, n)
	for i, s := range sessions {
		clients[i] = s.conn.(*framework.Client)
	}
	return clients, nil
}

// locks returns n locks, which share the sessions evenly. at returns the path of each lock.
func (l *local) locks(ctx context.Context, sessions, n int, kind lockKind, leases int, at func(i int) string) ([]lock, error) {
	opened, err := l.connect(ctx, sessions)
	if err != nil {
		return nil, err
	}
	all := make([]lock, n)
	for i := range all {
		if all[i], err = opened[i%sessions].lock(kind, at(i), leases); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// measured calls do, and returns its operations and latencies together with their cost.
func (l *local) measured(do func() (operations int, latencies []time.Duration, err error)) (measure.Run, error) {
	wireBefore, costBefore, start := l.counter.Total(), measure.Spent(), time.Now()
	operations, latencies, err := do()
	run := measure.Run{Operations: operations, Elapsed: time.Since(start)}
	cost, traffic := measure.Spent().Sub(costBefore), l.counter.Total().Sub(wireBefore)
	run.Cost, run.Wire = &cost, &traffic
	run.Latency = measure.Summarize(latencies)
	return run, err
}
