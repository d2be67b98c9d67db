// Sessionload measures the load of idle clients that hold locks on their servers:
//
//	go run ./tools/sessionload                       # 1,000 clients, timeouts of 10 s and 40 s
//	go run ./tools/sessionload -clients 200 -timeouts 4s -servers 3
//
// It starts real servers. All clients are in this process, each with its own session. First
// each client only has its session. Then each holds an uncontended InterProcessMutex, and has
// to prove its session: by a check and a sync, or by two syncs (WithSyncProof).
//
// The table has, for each second, the packets that the servers received, and the processor time
// of the servers and of this process. The last columns say how evenly the packets come: the
// maximum in 100 ms, and its ratio to the mean. A check is a transaction, which the servers
// write to their disks; a sync is not written.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "sessionload:", err)
		os.Exit(1)
	}
}

const tableHead = "| timeout | proof | clients | packets/s | servers' CPU ms/s | this process's CPU ms/s | most packets in 100 ms | times the mean |\n" +
	"| --- | --- | --- | --- | --- | --- | --- | --- |\n"

// run runs the command with args. The table is written to stdout.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	ensemble, err := curatortest.NewReal(o.servers, curatortest.WithProductionSettings(), curatortest.WithTickTime(2*time.Second))
	if err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() { err = errors.Join(err, ensemble.Close()) }()
	if _, err := fmt.Fprintf(stdout, "%d clients in one process, %d servers\n\n%s", o.clients, o.servers, tableHead); err != nil {
		return err
	}
	for _, timeout := range o.timeouts {
		for _, proof := range o.proofs {
			if err := measureHolders(ctx, o, ensemble, timeout, proof, stdout); err != nil {
				return err
			}
		}
	}
	return nil
}
