// Ensembleproof tests, on real ensembles with faults, that no two clients believe at the same time
// that they hold the same lock:
//
//	make ensemble-proof
//	go run ./tools/ensembleproof -scenarios A,C -timeouts 10s -rounds 1
//	go run ./tools/ensembleproof -rule answers    # a rule that is wrong: the result must have overlaps
//
// It starts real ensembles of three servers and breaks the network between them, or between
// them and their clients, in many ways. Under each fault there are pairs of clients: X holds an
// InterProcessMutex, connected to the faulty server alone, and Y, on the other servers, waits
// for it. The program compares the instant at which the context of X's lease ended with the
// instant at which Y's Acquire returned. If Y's instant is earlier, both believed that they
// held the lock: an overlap.
//
// The tables are in nominal time, with ZooKeeper's tick of 2 s. To shorten the run, time is
// scaled down: with -scale 4 a tick takes 500 ms, a timeout of 10 s takes 2.5 s, and the
// measured times are multiplied by 4 in the table. The times of processors and networks are
// multiplied, too. Elections are not shortened.
//
// # The effect of scheduling
//
// Both instants are taken in this process, by one monotonic clock, each in the first statement
// of its own goroutine after it was woken. An instant is late by the time that its goroutine
// waits for a processor. A late X seems to believe for longer, which can show a false overlap;
// a late Y can hide an overlap. If a stall of the whole process covers both, they are noted at
// its end, in either order. So a goroutine that is due every millisecond notes its own delays,
// and the error of a pair is the possible delay of its two instants. The table has the largest
// error of each row. An overlap or a slack that is shorter than the error means nothing;
// overlaps up to their own error are counted, and reported separately in the message. The
// timers of the clients are late, too, but this is no error, because the context of a lease is
// as late in any program.
//
// # Exit status
//
// It is 0 if there was no overlap, no lease was lost by a fault that healed in time (scenarios
// K and L, under the session policy), every kind of pair had locks that were granted to Y after
// the loss (except K and L), and every round could be run; 1 otherwise. With -rule answers it
// is 0 if there were overlaps, because the program must detect them.
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

// run runs the command with args. Tables are written to stdout, progress to stderr.
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
