// Bench measures the locks and the other recipes of this module beside Java Curator and
// go-zookeeper's own lock.
//
//	go run ./tools/bench -quick
//
// docs/benchmarks has the results, and how to read them. The comparison with etcd, PostgreSQL and
// kazoo, and the plots, are in the module tools/bench/compare.
package main

import "github.com/go-curator/curator/tools/bench/internal/bench"

func main() { bench.Command{}.Main() }
