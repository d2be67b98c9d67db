package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// beForeign is the environment variable that makes this program a foreign peer.
const beForeign = "BENCH_BE_FOREIGN"

// TestMain runs the benchmark's command if this process was started as a holder, and a peer if it was
// started as a peer.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 5 && os.Args[1] == holdCommand:
		exit(hold(context.Background(), os.Args[2], os.Args[3], os.Args[4]))
	case os.Getenv(beForeign) != "":
		exit(serveForeign())
	}
	goleak.VerifyTestMain(m)
}

// serveForeign answers with values of the request: the operations are the duration, and the latencies
// the clients. It does not have the workload readers, and fails for semaphores.
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
	held := &listening{}
	return protocol.Serve(context.Background(), os.Stdin, os.Stdout, map[string]protocol.Workload{
		protocol.Solo: tell, protocol.Drain: tell, protocol.Contend: warmUp,
		protocol.Hold: held.hold, protocol.Queued: held.queued, protocol.Wait: waitForEnd,
		protocol.Semaphore: func(context.Context, protocol.Request) (protocol.Result, error) {
			return protocol.Result{}, fmt.Errorf("no leases")
		},
	})
}

// listening is a lock. Its holder listens on a port, and writes the address into a file at its path.
type listening struct {
	listener net.Listener
	waits    net.Conn
}

func (l *listening) hold(_ context.Context, r protocol.Request) (_ protocol.Result, err error) {
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return protocol.Result{}, err
	}
	return protocol.Result{}, os.WriteFile(r.Path, []byte(l.listener.Addr().String()), 0o600)
}

// queued keeps the connection of the waiter open until this process ends.
func (l *listening) queued(context.Context, protocol.Request) (_ protocol.Result, err error) {
	l.waits, err = l.listener.Accept()
	return protocol.Result{}, err
}

// waitForEnd waits until the connection to the lock's holder ends. For some paths it gets the lock at
// once, or reports that it had it long ago.
func waitForEnd(_ context.Context, r protocol.Request) (protocol.Result, error) {
	address, err := os.ReadFile(r.Path)
	if err != nil {
		return protocol.Result{}, err
	}
	if strings.Contains(r.Path, "unlocked") {
		return protocol.Result{}, nil
	}
	conn, err := net.Dial("tcp", string(address))
	if err != nil {
		return protocol.Result{}, err
	}
	defer conn.Close()
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		return protocol.Result{}, errors.New("the holder has said something")
	}
	if strings.Contains(r.Path, "long-ago") {
		return protocol.Result{ElapsedNS: int64(time.Hour)}, nil
	}
	return protocol.Result{}, nil // the connection may also end with a reset
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
