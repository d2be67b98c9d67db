package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/process"
	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// drainClients is the number of sessions that the waiters of a queue share.
const drainClients = 8

// drain lets waiters queue behind a holder, and measures the hand-overs after the holder has released
// the lock. An operation is a hand-over, and its latency the time from one grant to the next.
func drain(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	return dissolved(ctx, l, mutex, w, path)
}

// succession is drain with leader latches.
func succession(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	return dissolved(ctx, l, latch, w, path)
}

// dissolved is drain for a kind of lock.
func dissolved(ctx context.Context, l *local, kind lockKind, w workload, path string) (measure.Run, error) {
	q, err := l.queue(ctx, kind, drainClients, 1, w.waiters, path)
	if err != nil {
		return measure.Run{}, err
	}
	if err := q.form(ctx); err != nil {
		return measure.Run{}, errors.Join(err, q.dissolve(ctx))
	}
	run, err := l.measured(func() (int, []time.Duration, error) {
		if err := q.dissolve(ctx); err != nil {
			return 0, nil, err
		}
		return w.waiters, q.gaps(), nil
	})
	return run, err
}

// queue is one or more locks that are held, and their waiters.
type queue struct {
	peer    *local
	paths   []string
	gates   []lock // a lock for each path
	held    []lease
	waiters []lock // waiter i waits at path i modulo the number of paths

	wg      sync.WaitGroup
	begin   time.Time   // when the gates were released
	granted []time.Time // when each waiter got the lock
	errs    []error     // the error of each waiter
}

// queue prepares locks at a number of paths below path, and waiters for them.
func (l *local) queue(ctx context.Context, kind lockKind, sessions, paths, waiters int, path string) (*queue, error) {
	q := &queue{peer: l, granted: make([]time.Time, waiters), errs: make([]error, waiters)}
	for i := range paths {
		q.paths = append(q.paths, fmt.Sprintf("%s/%d", path, i))
	}
	at := func(i int) string { return q.paths[i%paths] }
	var err error
	if q.gates, err = l.locks(ctx, sessions, paths, kind, 0, at); err != nil {
		return nil, err
	}
	q.waiters, err = l.locks(ctx, sessions, waiters, kind, 0, at)
	return q, err
}

// close acquires the locks, so that the others wait for them.
func (q *queue) close(ctx context.Context) error {
	for _, gate := range q.gates {
		held, err := gate.Acquire(ctx)
		if err != nil {
			return err
		}
		q.held = append(q.held, held)
	}
	return nil
}

// form acquires the locks, starts the waiters, and returns when all wait.
func (q *queue) form(ctx context.Context) error {
	if err := q.close(ctx); err != nil {
		return err
	}
	q.wait(ctx)
	return q.settled(ctx)
}

// wait starts the waiters. Each releases its lock as soon as it has acquired it.
func (q *queue) wait(ctx context.Context) {
	for i, waiter := range q.waiters {
		q.wg.Go(func() {
			held, err := waiter.Acquire(ctx)
			if err == nil {
				q.granted[i] = time.Now()
				err = held.Release(ctx)
			}
			q.errs[i] = err
		})
	}
}

// settled returns when all nodes exist and the peer sends no more requests.
func (q *queue) settled(ctx context.Context) error {
	n, all := 0, len(q.gates)+len(q.waiters)
	err := q.peer.settled(ctx, func(conn *zk.Conn) (_ bool, err error) {
		if n < all {
			n, err = countChildren(conn, q.paths)
		}
		return n == all, err
	})
	if err != nil {
		return fmt.Errorf("%d of %d hold or wait: %w", n, all, err)
	}
	return nil
}

// countChildren returns the total number of children of the nodes.
func countChildren(conn *zk.Conn, paths []string) (n int, err error) {
	for _, path := range paths {
		_, stat, err := conn.Exists(path)
		if err != nil {
			return 0, err
		}
		n += int(stat.NumChildren)
	}
	return n, nil
}

// dissolve releases the locks that are held, and returns when all waiters have had a lock.
func (q *queue) dissolve(ctx context.Context) error {
	q.begin = time.Now()
	var errs []error
	for _, held := range q.held {
		errs = append(errs, held.Release(ctx))
	}
	q.wg.Wait()
	return errors.Join(append(errs, q.errs...)...)
}

// gaps returns the times between two grants. The first is the time from the release of the gates.
func (q *queue) gaps() []time.Duration {
	ordered := append([]time.Time{q.begin}, q.granted...)
	slices.SortFunc(ordered, time.Time.Compare)
	gaps := make([]time.Duration, 0, len(q.granted))
	for i, granted := range ordered[1:] {
		gaps = append(gaps, granted.Sub(ordered[i]))
	}
	return gaps
}

// holdCommand is the argument that makes this program a holder that waits until it is killed. The
// peer's name, the address and the path follow it.
const holdCommand = "hold-until-killed"

// crash kills processes that hold a lock, one after the other.
func crash(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	return crashes(w.waiters, path, func(path string) (time.Duration, error) { return l.crashOnce(ctx, path) })
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
		s, err := f.open(ctx, address, crashTimeout, new(measure.Counter))
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
