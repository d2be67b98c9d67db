package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/process"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/wire"
)

// crashTimeout is the session timeout of the holder that is killed: two ticks of the server, the
// shortest that it grants.
const crashTimeout = 2 * tickTime

// holdCommand is the argument that makes this program a holder that waits until it is killed. The
// peer's name, the address and the path follow it.
const holdCommand = "hold-until-killed"

// crash kills processes that hold a lock, one after the other.
func crash(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	return crashes(w.waiters, path, func(path string) (time.Duration, error) { return l.crashOnce(ctx, path) })
}

// crashes kills n holders, each at its own path. once kills one holder, and returns the time until the
// next contender had the lock.
func crashes(n int, path string, once func(path string) (time.Duration, error)) (measure.Run, error) {
	var run measure.Run
	var latencies []time.Duration
	for i := range n {
		took, err := once(fmt.Sprintf("%s/%d", path, i))
		if err != nil {
			return measure.Run{}, err
		}
		latencies = append(latencies, took)
		run.Operations++
		run.Elapsed += took
	}
	run.Latency = measure.Summarize(latencies)
	return run, nil
}

func (l *local) crashOnce(ctx context.Context, path string) (time.Duration, error) {
	q, err := l.queue(ctx, mutex, 1, 1, 1, path)
	if err != nil {
		return 0, err
	}
	holder, err := startHolder(l.name, l.address, q.paths[0])
	if err != nil {
		return 0, err
	}
	q.wait(ctx)
	err = q.settled(ctx)
	begin := time.Now()
	holder.Kill()
	err = errors.Join(err, q.dissolve(ctx))
	return q.granted[0].Sub(begin), err
}

// startHolder starts this program as a holder and returns when it has the lock.
func startHolder(peer, address, path string) (*process.Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, holdCommand, peer, address, path)
	var says strings.Builder
	cmd.Stderr = &says
	if _, err := cmd.StdinPipe(); err != nil { // the holder ends with its input, on systems where it is not killed with this process
		return nil, err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout = w
	holder, err := process.Start(cmd)
	_ = w.Close() // the holder has its own descriptor
	if err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		holder.Kill()
		return nil, fmt.Errorf("the holder is not ready: %q, %w, %s", line, err, &says)
	}
	return holder, nil
}

// hold acquires a lock and keeps it until the process is killed, or its input ends.
func hold(ctx context.Context, peer, address, path string) error {
	for _, f := range peerKinds() {
		if f.name != peer || f.open == nil {
			continue
		}
		s, err := f.open(ctx, address, crashTimeout, new(wire.Counter))
		if err != nil {
			return err
		}
		lock, err := s.lock(mutex, path, 0)
		if err != nil {
			return err
		}
		if _, err := lock.Acquire(ctx); err != nil {
			return err
		}
		fmt.Println("held")
		_, err = io.Copy(io.Discard, os.Stdin)
		return errors.Join(err, s.close())
	}
	return fmt.Errorf("there is no peer %q in this process", peer)
}
