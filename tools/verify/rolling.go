package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/go-curator/curator/internal/verify/rolling"
)

// upgrading is the subcommand rolling.
func upgrading() subcommand {
	return subcommand{"rolling", "upgrade a real ensemble one server at a time, and back, under load", `
Rolling takes a real ensemble of three servers from one release of ZooKeeper to the next, one server at a
time, and back as far as the servers start, under the load of all recipes. On the newest release it also has
a server end the connections of its clients in each way that there is. It prints a table with a row for each
step. Package internal/verify/rolling says what it tests. Releases are folders that make servers fetches.

	make rolling
	make rolling ZOOKEEPER='3.8 3.9' ROLLINGFLAGS=-one-way
	make rolling ROLLINGFLAGS=-standard    # leases end with connections: the result must have losses

The exit status is 0 if all upgrades were done, no step has cost a lease, an ephemeral node or an increment,
all caches have converged, and the load has no violation. A release that refuses what a later one has written
is told in its row, in the words of the server; so is a release that has no way to end connections. With
-standard it is 0 if steps have cost leases, because losses must be noticed, and the load is as good as without.`, defineRolling}
}

func defineRolling(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error {
	var c rolling.Config
	homes(flags, &c.Releases)
	names(flags, &c.Workloads, "workloads", "run only these `workloads` of make chaos, separated by commas (default all)")
	flags.DurationVar(&c.Session, "session", 30*time.Second, "the session timeout of all clients")
	flags.DurationVar(&c.Pause, "pause", 3*time.Second, "how long the load lasts before a step, and after it")
	flags.IntVar(&c.Clients, "clients", 6, "the number of clients that hold leases all the time")
	flags.BoolVar(&c.Foreign, "foreign", false, "let clients of Java Curator and kazoo take part in the load")
	flags.BoolVar(&c.OneWay, "one-way", false, "do not go back")
	flags.BoolVar(&c.Standard, "standard", false, "give the clients that hold leases the standard error policy, which must cost leases")
	flags.Uint64Var(&c.Seed, "seed", 1, "the seed of the load")
	flags.StringVar(&c.Log, "log", "", "write all events of the load to this file (default a temporary file, which is kept after a violation)")
	return func(ctx context.Context, out, progress io.Writer) error {
		return rolling.Run(ctx, c, out, progress)
	}
}
