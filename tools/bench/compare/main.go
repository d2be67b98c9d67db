// Compare is the benchmark of tools/bench with more peers: the locks of kazoo, the client for Python,
// etcd's concurrency package, and tables of PostgreSQL. It has the same flags, and -plots.
//
//	go -C tools/bench/compare run . -json $PWD/results.json -plots $PWD/plots
//
// It is a separate module, so that the library does not get the dependencies of these peers and of the
// plots. The peers in Go and the plots are separate programs, so that the process that measures the
// clients in Go is the same as without them. They are built when they are needed, from the module of
// the working directory, which must be this one.
package main

import (
	"github.com/go-curator/curator/tools/bench/compare/internal/service"
	"github.com/go-curator/curator/tools/bench/internal/bench"
)

func main() { command().Main() }

// command returns the command with the peers in the order of the report.
func command() bench.Command {
	return bench.Command{
		Peers: []bench.PeerKind{
			bench.OnZooKeeper("kazoo", false, kazoo),
			bench.OnService("etcd", service.Etcd, etcd),
			bench.OnService("sql-insert", service.PostgreSQL, sqlInsert),
			bench.OnService("sql-update", service.PostgreSQL, sqlUpdate),
		},
		Draw: drawPlots,
	}
}
