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

// endTimeout is how long a peer may take to end after its input.
const endTimeout = 20 * time.Second

// Peer is a running peer. It answers one request after the other: Run must not be called
// while it runs.
type Peer struct {
	process *process.Process
	in      io.WriteCloser
	out     *io.PipeReader
	log     *tail
	lines   chan string // its output, closed with it
	reading sync.WaitGroup

	deafOnce sync.Once
	deaf     chan struct{} // closed when no answer is wanted any more

	closed sync.Once
	err    error // of Close
}

// Start starts a peer and waits until it is ready. If ctx ends before, the peer is killed.
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
		<-p.process.Ended() // only then all of its output has been copied
		_ = output.Close()  // an error says that nobody reads it
	})
	p.reading.Go(p.read)
	line, err := p.next(ctx)
	if err == nil && line != Ready {
		err = fmt.Errorf("the peer says %q before it is ready", line)
	}
	if err != nil {
		p.kill()
		_ = p.Close() // what it says is in the error, or that it was killed, which it was
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	return p, nil
}

// Run has the peer run a workload. It returns [ErrUnsupported] if the peer does not have it.
// When ctx ends first, the peer is killed, and good for nothing more.
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
		return Result{}, fmt.Errorf("the peer answers %.100q: %w", answer, err)
	}
	return result, result.Err()
}

// Close lets the peer end, and waits for it. Its error says that the peer had to be killed,
// or how it failed. It can be called more than once.
func (p *Peer) Close() error {
	p.closed.Do(func() {
		p.ignore()
		_ = p.in.Close() // an error says that it has ended
		byItself := p.process.WaitOrKill(endTimeout)
		_ = p.out.Close()
		p.reading.Wait()
		err := p.process.Wait()
		switch {
		case !byItself:
			p.err = p.ended(errors.New("the peer did not end with its input"))
		case err != nil:
			p.err = p.ended(err)
		}
	})
	return p.err
}

// Kill kills the peer, whatever it does, and waits until it has ended. Close has nothing left
// to do then.
func (p *Peer) Kill() {
	p.closed.Do(func() {
		p.kill()
		_ = p.in.Close() // an error says that it has ended
		_ = p.out.Close()
		p.reading.Wait()
	})
}

// ignore lets the output go to nowhere, so that nothing waits to be heard.
func (p *Peer) ignore() { p.deafOnce.Do(func() { close(p.deaf) }) }

// kill ends the peer.
func (p *Peer) kill() {
	p.ignore()
	p.process.Kill()
}

// read hands on the lines of the output.
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
			_, _ = io.Copy(io.Discard, p.out) // an error says that it is closed
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

// ended is the error for a peer that is there no more, with what it has said.
func (p *Peer) ended(err error) error {
	return fmt.Errorf("the peer has ended: %w\n%s", err, p.log)
}

// maxLog is how much of a peer's standard error is kept, in bytes.
const maxLog = 4 << 10

// tail keeps the end of what is written to it.
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
