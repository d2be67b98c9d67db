package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// beForeign has this program be a foreign peer.
const beForeign = "BENCH_BE_FOREIGN"

// TestMain is the benchmark itself when it is started as a holder, and a peer when it is
// started as one.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 5 && os.Args[1] == holdCommand:
		exit(hold(context.Background(), os.Args[2], os.Args[3], os.Args[4]))
	case os.Getenv(beForeign) != "":
		exit(serveForeign())
	}
	goleak.VerifyTestMain(m)
}

// serveForeign answers with what it was asked: operations tell the duration, latencies the
// clients. It has no readers, and fails at semaphores.
func serveForeign() error {
	tell := func(_ context.Context, r protocol.Request) (protocol.Result, error) {
		return protocol.Result{
			Operations: r.DurationMS, ElapsedNS: 1000 * r.WarmupMS, LatenciesNS: []int64{int64(r.Clients), int64(r.Waiters)},
		}, nil
	}
	warmUp := func(_ context.Context, r protocol.Request) (protocol.Result, error) {
		if r.DurationMS != 1 {
			return protocol.Result{}, fmt.Errorf("no such warm-up: %+v", r)
		}
		return protocol.Result{}, nil
	}
	return protocol.Serve(context.Background(), os.Stdin, os.Stdout, map[string]protocol.Workload{
		protocol.Solo: tell, protocol.Drain: tell, protocol.Contend: warmUp,
		protocol.Semaphore: func(context.Context, protocol.Request) (protocol.Result, error) {
			return protocol.Result{}, fmt.Errorf("no leases")
		},
	})
}

// thisProgram is a program for startForeign.
func thisProgram(_ context.Context, _, address string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, address)
	cmd.Env = append(os.Environ(), beForeign+"=1")
	return cmd, nil
}
