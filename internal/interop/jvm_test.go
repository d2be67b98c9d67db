package interop_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// jvm is a process that runs Peer.
type jvm struct {
	proc  *os.Process
	in    io.WriteCloser
	log   string        // the path of its log
	ended chan struct{} // closed when the process has been waited for
	err   error         // how it ended; after ended

	mu      sync.Mutex
	last    int             // the last request's number
	over    bool            // nothing is answered any more
	waiting map[int]*answer // by the request's number
}

// answer is what is to come of a request, to either language.
type answer struct {
	done chan struct{}
	text string
	err  error
}

func newAnswer() *answer { return &answer{done: make(chan struct{})} }

func (a *answer) give(text string, err error) {
	a.text, a.err = text, err
	close(a.done)
}

// startJVM starts cmd, with a log in dir.
func startJVM(cmd *exec.Cmd, dir string) (*jvm, error) {
	log, err := os.CreateTemp(dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	j := &jvm{log: log.Name(), ended: make(chan struct{}), waiting: map[int]*answer{}}
	cmd.Stderr = log
	if j.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go j.run(cmd, out, started)
	return j, <-started
}

// run starts the process, takes its answers and waits for its end. It keeps its thread,
// because on Linux the kernel is asked to end the process with the thread that started it.
func (j *jvm) run(cmd *exec.Cmd, out io.Reader, started chan<- error) {
	defer close(j.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	endWithParent(cmd)
	err := cmd.Start()
	j.proc = cmd.Process
	started <- err
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		j.take(lines.Text())
	}
	j.err = cmd.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	for _, a := range j.waiting {
		a.give("", fmt.Errorf("the JVM has ended: %v", j.err))
	}
}

// take hands an answer to whom it is for.
func (j *jvm) take(line string) {
	words := strings.SplitN(line, " ", 3)
	n, err := strconv.Atoi(words[0])
	j.mu.Lock()
	a := j.waiting[n]
	delete(j.waiting, n)
	j.mu.Unlock()
	switch {
	case err != nil || a == nil || len(words) != 3:
		fmt.Fprintf(os.Stderr, "interop: no answer: %q\n", line)
	case words[1] == "ok":
		a.give(words[2], nil)
	default:
		a.give("", errors.New("Java: "+words[2]))
	}
}

// request asks a peer to do something, and returns at once.
func (j *jvm) request(peer string, words ...any) *answer {
	a := newAnswer()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.over {
		a.give("", errors.New("the JVM has ended"))
		return a
	}
	j.last++
	j.waiting[j.last] = a
	line := fmt.Sprintln(append([]any{j.last, peer}, words...)...)
	if _, err := io.WriteString(j.in, line); err != nil {
		delete(j.waiting, j.last)
		a.give("", err)
	}
	return a
}

// kill ends the process as kill -9 does, and waits for it.
func (j *jvm) kill() {
	j.proc.Kill() // an error says that it has ended
	<-j.ended
}

// stop lets the process end, and waits for it. Its error tells when it had to be killed.
func (j *jvm) stop() error {
	j.in.Close() // an error says that it has ended
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-j.ended:
		return j.err
	case <-timer.C:
		j.kill()
		return errors.New("the JVM did not end with its input")
	}
}
