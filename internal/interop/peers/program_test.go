package peers_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/process"
)

// patience is how long an answer may take.
const patience = 2 * time.Minute

// program is a running program of testdata, and answers requests as testdata/kazoo_peer.py says.
type program struct {
	t    *testing.T
	proc *process.Process
	in   io.Writer
	log  string // the path of what it says on its standard error

	mu      sync.Mutex
	last    int
	waiting map[int]*answer
}

// answer is what is to come of a request.
type answer struct {
	done chan struct{}
	text string
	err  error
}

// start starts a program that ends with the test.
func start(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "log-")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	p := &program{t: t, in: in, log: log.Name(), waiting: map[int]*answer{}}
	if p.proc, err = process.Start(cmd); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(out)
	}()
	t.Cleanup(func() {
		p.proc.Kill()
		<-read
		if text, err := os.ReadFile(p.log); err == nil && t.Failed() {
			t.Logf("the log of %s:\n%s", filepath.Base(cmd.Path), text)
		}
	})
	return p
}

// read hands out the answers until the program ends.
func (p *program) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		words := strings.SplitN(lines.Text(), " ", 3)
		n, err := strconv.Atoi(words[0])
		if err != nil || len(words) < 2 {
			continue // a library's own output
		}
		text := strings.Join(words[2:], " ")
		if words[1] == "ok" {
			p.give(n, text, nil)
		} else {
			p.give(n, "", errors.New(text))
		}
	}
	p.mu.Lock()
	rest := slices.Collect(maps.Keys(p.waiting))
	p.mu.Unlock()
	for _, n := range rest {
		p.give(n, "", errors.New("the program has ended"))
	}
}

func (p *program) give(n int, text string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.waiting[n]; a != nil {
		delete(p.waiting, n)
		a.text, a.err = text, err
		close(a.done)
	}
}

// request asks for something, and returns at once.
func (p *program) request(words ...any) *answer {
	a := &answer{done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.waiting[p.last] = a
	if _, err := fmt.Fprintln(p.in, append([]any{p.last}, words...)...); err != nil {
		delete(p.waiting, p.last)
		a.err = err
		close(a.done)
	}
	return a
}

// ask asks for something that must succeed, and returns the answer.
func (p *program) ask(words ...any) string {
	p.t.Helper()
	text, err := p.try(words...)
	if err != nil {
		p.t.Fatalf("%v: %v", words, err)
	}
	return text
}

// try asks for something, and returns the answer.
func (p *program) try(words ...any) (string, error) {
	p.t.Helper()
	return p.wait(p.request(words...))
}

// wait returns an answer. It must come.
func (p *program) wait(a *answer) (string, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	select {
	case <-a.done:
		return a.text, a.err
	case <-ctx.Done():
		p.t.Fatal("no answer")
		return "", nil
	}
}

// javaTool returns a tool of JAVA_HOME, or the one in the path.
func javaTool(name string) string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", name)
	}
	return name
}

// compile compiles Java sources into a folder.
func compile(t *testing.T, classPath, folder string, sources ...string) {
	t.Helper()
	args := slices.Concat([]string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none", "-parameters", "-cp", classPath, "-d", folder}, sources)
	if out, err := exec.CommandContext(t.Context(), javaTool("javac"), args...).CombinedOutput(); err != nil {
		t.Fatalf("compile %q: %v\n%s", sources, err, out)
	}
}
