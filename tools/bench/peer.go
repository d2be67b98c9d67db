package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
	"github.com/go-curator/curator/tools/bench/internal/service"
	"github.com/go-curator/curator/tools/bench/peers"
)

// peer is what is measured.
type peer interface {
	// run does a workload at a path of its own; errUnsupported if it has none such.
	run(ctx context.Context, w workload, path string, t timing) (measure.Run, error)
	close() error
}

// peerKind is a peer that can be started.
type peerKind struct {
	name  string
	quick bool // part of a quick run

	open  openFunc // of a peer in this process
	start func(ctx context.Context, s *services) (peer, error)
}

// peerKinds are all of them, in the order of the report.
func peerKinds() []peerKind {
	return []peerKind{
		inProcess("floor", true, openDriver(newFloor, bare, uncontended)),
		inProcess("floor-list", true, openDriver(newFloorList, bare, uncontended, readLock)),
		inProcess("floor-pair", true, openPair),
		inProcess("floor-watch", true, openDriver(newFloorWatch, mutex)),
		inProcess("raw", false, openRaw),
		inProcess(results.Ours, true, openCurator),
		inProcess("curator-v2", false, openCuratorV2),
		inProcess("zk.Lock", true, openDriver(newDriverLock, mutex, uncontended)),
		onZooKeeper("java", true, peers.Java),
		onZooKeeper("kazoo", false, peers.Kazoo),
		onService("etcd", service.Etcd, peers.Etcd),
		onService("sql-insert", service.PostgreSQL, peers.SQLInsert),
		onService("sql-update", service.PostgreSQL, peers.SQLUpdate),
	}
}

// inProcess returns a peer in this process.
func inProcess(name string, quick bool, open openFunc) peerKind {
	return peerKind{name: name, quick: quick, open: open, start: func(_ context.Context, s *services) (peer, error) {
		l := &local{name: name, address: s.zooKeeper, open: open}
		if name == results.Ours {
			l.heapProfile = s.heapProfile
		}
		return l, nil
	}}
}

// choosePeers returns those that are named, or else all, or those of a quick run.
func choosePeers(named string, quick bool) ([]peerKind, error) {
	all := peerKinds()
	if named == "" {
		if quick {
			all = slices.DeleteFunc(all, func(k peerKind) bool { return !k.quick })
		}
		return all, nil
	}
	var chosen []peerKind
	for name := range strings.SplitSeq(named, ",") {
		i := slices.IndexFunc(all, func(k peerKind) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no peer is called %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// services are what the peers connect to.
type services struct {
	zooKeeper string        // the connect string for peers in this process
	servers   []string      // ZooKeeper's own addresses
	distance  time.Duration // of all of them
	relayed   bool          // also without a distance
	warmUp    time.Duration // of a server or a peer that has just been started
	dir       string        // for what peers need; removed at the end

	heapProfile string // where ours writes one; "" for nowhere
}

// newServices returns the services around ZooKeeper servers, and what ends them.
func newServices(servers []string, distance time.Duration, relayed bool) (s *services, end func(), err error) {
	s = &services{servers: servers, distance: distance, relayed: relayed, zooKeeper: strings.Join(servers, ",")}
	if s.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return nil, nil, err
	}
	end = func() { _ = os.RemoveAll(s.dir) } // a temporary folder that stays harms nobody
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
