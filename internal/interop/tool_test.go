package interop_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tool is a running "curator server".
type tool struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   bytes.Buffer  // its standard error; after ended
	ended chan struct{} // closed when the process has been waited for
	err   error         // how it ended; after ended
}

// onTool runs a test on the server of the command line tool, which must end as it is asked to.
func onTool(t *testing.T, test func(s *server)) {
	t.Run("curator server", func(t *testing.T) {
		t.Parallel()
		test(newServer(t, startTool(t, buildTool(t))))
	})
}

// buildTool returns the path of the command line tool.
func buildTool(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "curator")
	if out, err := exec.Command("go", "build", "-o", path, "../../tools/curator").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// startTool starts the tool and returns the address that it tells. After the test it asks
// it to end.
func startTool(t *testing.T, path string) (address string) {
	t.Helper()
	s := &tool{t: t, cmd: exec.Command(path, "server", "--listen", "127.0.0.1:0"), ended: make(chan struct{})}
	s.cmd.Stderr = &s.log
	first := make(chan string, 1)
	go s.run(first)
	t.Cleanup(func() {
		if s.cmd.Process != nil {
			killGroup(s.cmd) // an error says that it has ended
		}
		<-s.ended
	})
	line := <-first
	address, _, ok := strings.Cut(line, " embedded ZooKeeper server; ")
	if !ok {
		<-s.ended
		t.Fatalf("curator server has said %q, %v, %s", line, s.err, &s.log)
	}
	t.Cleanup(s.terminate)
	return address
}

// run starts the process, passes on its first line and waits for its end.
func (s *tool) run(first chan<- string) {
	defer close(s.ended)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	endWithParent(s.cmd)
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.err = err
		first <- ""
		return
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // at its end the line is empty
	first <- lines.Text()
	for lines.Scan() {
		s.err = fmt.Errorf("more output: %q", lines.Text())
	}
	if err := s.cmd.Wait(); err != nil {
		s.err = err
	}
}

// terminate asks the server to end, which it must do soon and without a complaint.
func (s *tool) terminate() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.ended:
		if s.err != nil || s.log.Len() > 0 {
			s.t.Errorf("curator server has ended with %v, %s", s.err, &s.log)
		}
	case <-time.After(10 * time.Second):
		s.t.Error("curator server does not end")
	}
}
