package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/java"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

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
		inProcess("floor", true, openDriver(newFloor, bare, uncontended)),
		inProcess("floor-list", true, openDriver(newFloorList, bare, uncontended, readLock)),
		inProcess("floor-pair", true, openPair),
		inProcess("floor-watch", true, openDriver(newFloorWatch, mutex)),
		inProcess("raw", false, openRaw),
		inProcess(results.Ours, true, openCurator),
		inProcess("curator-v2", false, openCuratorV2),
		inProcess("zk.Lock", true, openDriver(newDriverLock, mutex, uncontended)),
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
