package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/go-curator/curator/internal/verify/load"
)

// measuring is the subcommand load.
func measuring() subcommand {
	return subcommand{"load", "measure the load of idle clients that hold locks on their servers", `
Load starts real servers and clients of them, and prints a table of the packets and the processor time
that the clients cost, first idle and then with a lock each. Package internal/verify/load explains it.

	go run ./tools/verify load                       # 1,000 clients, timeouts of 10 s and 40 s
	go run ./tools/verify load -clients 200 -timeouts 4s -servers 3`, defineLoad}
}

func defineLoad(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error {
	c := load.Config{Timeouts: []time.Duration{10 * time.Second, 40 * time.Second}, Proofs: []string{"check", "sync"}}
	flags.IntVar(&c.Clients, "clients", 1000, "the number of clients")
	flags.IntVar(&c.Servers, "servers", 1, "the number of servers of the ensemble")
	flags.DurationVar(&c.Window, "window", 0, "how long to measure (default two session timeouts)")
	durations(flags, &c.Timeouts, "timeouts", "the session `timeouts`, separated by commas; servers grant 4s to 40s (default 10s,40s)")
	names(flags, &c.Proofs, "proofs", "the `ways` to prove a session, check or sync, separated by commas (default check,sync)")
	return func(ctx context.Context, out, _ io.Writer) error { return load.Run(ctx, c, out) }
}
