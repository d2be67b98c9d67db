package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/process"
)

// endTimeout bounds the time until a peer ends after the end of its input.
const endTimeout = 20 * time.Second

// Peer is a running peer. It answers one request after the other: Run must not be called while
// another Run has not returned.
type Peer struct {
	process *process.Process
	in      io.WriteCloser
	out     *io.PipeReader
	log     *tail
	lines   chan string // the lines of its output; closed at the end of the output
	reading sync.WaitGroup

	deafOnce sync.Once
	deaf     chan struct{} // closed when the output is discarded from now on

	closed sync.Once
	err    error // the result of Close
}

// Start starts a peer and waits until it is ready. If ctx ends first, the peer is killed.
func Start(ctx context.Context, cmd *exec.Cmd) (*Peer, error) {
	out, output := io.Pipe()
	p := &Peer{out: out, log: &tail{}, lines: make(chan string), deaf: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = output, p.log
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.process, err = process.Start(cmd); err != nil {
		return nil, fmt.Errorf("start a peer: %w", err)
	}
	p.reading.Go(func() {
		<-p.process.Ended() // by then all of its output was copied
		_ = output.Close()  // its error is always nil
	})
	p.reading.Go(p.read)
	line, err := p.next(ctx)
	if err == nil && line != Ready {
		err = fmt.Errorf("the peer has printed %q before it was ready", line)
	}
	if err != nil {
		p.kill()
		_ = p.Close() // err has the cause already
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	return p, nil
}

// Run runs a workload on the peer. It returns [ErrUnsupported] if the peer does not have the workload.
// When ctx ends first, the peer is killed and cannot be used any more.
func (p *Peer) Run(ctx context.Context, r Request) (Result, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return Result{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return Result{}, p.ended(err)
	}
	answer, err := p.next(ctx)
	if err != nil {
		return Result{}, err
	}
	var result Result
	if err := json.Unmarshal([]byte(answer), &result); err != nil {
		return Result{}, fmt.Errorf("the peer has answered %.100q: %w", answer, err)
	}
	return result, result.Err()
}

// Close ends the input of the peer, and waits until the peer has ended. It returns an error if the
// peer had to be killed or has failed. It can be called more than once.
func (p *Peer) Close() error {
	p.closed.Do(func() {
		p.ignore()
		_ = p.in.Close() // it fails if the peer has ended
		byItself := p.process.WaitOrKill(endTimeout)
		_ = p.out.Close()
		p.reading.Wait()
		err := p.process.Wait()
		switch {
		case !byItself:
			p.err = p.ended(errors.New("the peer did not end after the end of its input"))
		case err != nil:
			p.err = p.ended(err)
		}
	})
	return p.err
}

// Kill kills the peer, and waits until it has ended. A later Close does nothing.
func (p *Peer) Kill() {
	p.closed.Do(func() {
		p.kill()
		_ = p.in.Close() // it fails if the peer has ended
		_ = p.out.Close()
		p.reading.Wait()
	})
}

// ignore discards the output from now on, so that the peer does not block when it writes.
func (p *Peer) ignore() { p.deafOnce.Do(func() { close(p.deaf) }) }

// kill kills the peer.
func (p *Peer) kill() {
	p.ignore()
	p.process.Kill()
}

// read sends the lines of the output to p.lines.
func (p *Peer) read() {
	defer close(p.lines)
	for out := bufio.NewReader(p.out); ; {
		line, err := out.ReadString('\n')
		if err != nil {
			return
		}
		select {
		case p.lines <- strings.TrimSuffix(line, "\n"):
		case <-p.deaf:
			_, _ = io.Copy(io.Discard, p.out) // it fails when p.out is closed
			return
		}
	}
}

// next returns the next line of the output.
func (p *Peer) next(ctx context.Context) (string, error) {
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", p.ended(p.process.Wait())
		}
		return line, nil
	case <-ctx.Done():
		p.kill()
		return "", context.Cause(ctx)
	}
}

// ended returns the error for a peer that has ended, with the end of its standard error.
func (p *Peer) ended(err error) error {
	return fmt.Errorf("the peer has ended: %w\n%s", err, p.log)
}

// maxLog is the number of bytes of a peer's standard error that are kept.
const maxLog = 4 << 10

// tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxLog):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// Outlive lets p wait for a lock that another process of the same program holds, kills that process,
// and returns the time until p had the lock. cmd may have been started before. timeout is the session
// timeout of the holder.
func (p *Peer) Outlive(ctx context.Context, cmd *exec.Cmd, path string, timeout time.Duration) (time.Duration, error) {
	another := exec.Command(cmd.Path, cmd.Args[1:]...)
	another.Env, another.Dir = cmd.Env, cmd.Dir
	holder, err := Start(ctx, another)
	if err != nil {
		return 0, fmt.Errorf("the holder: %w", err)
	}
	defer holder.Kill()
	if _, err := holder.Run(ctx, Request{Workload: Hold, Path: path, TimeoutMS: timeout.Milliseconds()}); err != nil {
		return 0, fmt.Errorf("the holder: %w", err)
	}
	waiting, answered := context.WithCancel(ctx)
	defer answered()
	var wg sync.WaitGroup
	var granted time.Time
	var waitErr error
	wg.Go(func() {
		defer answered() // ends the wait for the waiter in the queue
		var result Result
		result, waitErr = p.Run(ctx, Request{Workload: Wait, Path: path})
		granted = time.Now().Add(-time.Duration(result.ElapsedNS))
	})
	_, err = holder.Run(waiting, Request{Workload: Queued, Path: path})
	killed := time.Now()
	holder.Kill()
	wg.Wait()
	switch {
	case waitErr != nil:
		return 0, fmt.Errorf("the waiter: %w", waitErr)
	case granted.Before(killed):
		return 0, errors.New("the lock was granted while it was held")
	case err != nil:
		return 0, fmt.Errorf("the holder: %w", err)
	}
	return granted.Sub(killed), nil
}
