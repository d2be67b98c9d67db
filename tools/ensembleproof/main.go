// Ensembleproof shows what a client may believe of its session on an ensemble:
//
//	make ensemble-proof
//	go run ./tools/ensembleproof -scenarios A,C -timeouts 10s -rounds 1
//	go run ./tools/ensembleproof -rule answers    # the rule that is wrong: it must show overlaps
//
// It starts real ensembles of three servers and breaks the network between them, or between
// them and their clients, in many ways. Under each fault there are pairs of clients: X holds an
// InterProcessMutex, connected to the faulty server alone, and Y, on the other servers, waits
// for it. What is measured is the instant at which the context of X's lease ended, against the
// instant at which Y's Acquire returned. If Y's is the earlier one, both believed that they held
// the lock: an overlap.
//
// The tables are in nominal time, with ZooKeeper's tick of 2 s. To be done sooner, time is scaled
// down: with -scale 4 a tick takes 500 ms, a timeout of 10 s takes 2.5 s, and what was measured
// is multiplied by 4 in the table. What a processor or a network takes is multiplied as well, and
// an election takes as long as ever.
//
// # What scheduling does to the figures
//
// Both instants are taken in this process, by one monotonic clock, each in the first statement
// that a goroutine of its own runs after it was woken. A stall of the whole process or machine
// moves both. Apart from that, an instant is late by the time that its goroutine waits for a
// processor. A late X looks as if it had believed for longer, which can show an overlap that was
// none; a late Y can hide one. The error of a difference is at most the lateness of one
// goroutine. That is measured in each round, by a ticker of 1 ms, and the largest is said below
// the table, in real time: an overlap or a slack that is shorter says nothing. The timers of the
// clients are as late, but that is no error: users have it, too.
//
// # Exit status
//
// It is 0 if there was no overlap, no lease was lost by a fault that passed in time (scenarios K
// and L, where the session policy goes by the session alone), and every round could be run; 1
// otherwise. With -rule answers it is 0 if there were overlaps: the harness sees them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "ensembleproof:", err)
		os.Exit(1)
	}
}

// run does what the arguments say. Tables go to stdout, progress to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	p := newProof(o, stderr)
	runErr := p.run(ctx)
	if _, err := io.WriteString(stdout, p.markdown()); err != nil {
		return err
	}
	return errors.Join(runErr, p.verdict())
}
