package curatortest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// startTimeout is how long a server may take until it serves, stopTimeout until it has
// ended after it was asked to.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// process is one run of a server's process.
type process struct {
	proc  *os.Process
	ended chan struct{} // closed when the process has been waited for
}

// startProcess starts cmd. It is waited for by a goroutine that keeps its thread from the
// start to the end, because on Linux the kernel is asked to end the process with the
// thread that started it.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{ended: make(chan struct{})}
	started := make(chan error, 1)
	endWithParent(cmd)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.proc = cmd.Process
		started <- err
		if err == nil {
			cmd.Wait() // however it ended, it has
		}
	}()
	if err := <-started; err != nil {
		<-p.ended
		return nil, err
	}
	return p, nil
}

// kill ends the process and waits for it.
func (p *process) kill() {
	p.proc.Kill() // an error says that it has ended
	<-p.ended
}

// stop asks the process to end and waits for it; if that takes too long, it is killed.
func (p *process) stop() {
	proceed(p.proc)   // a suspended process would not notice
	terminate(p.proc) // an error says that it has ended
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.kill()
	}
}

// awaitServing waits until the server at address serves clients.
func (p *process) awaitServing(address string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(startTimeout); time.Now().Before(end); {
		if _, err := serverMode(address); err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-p.ended:
			return errors.New("the server's process has ended")
		}
	}
	return fmt.Errorf("the server does not serve after %v", startTimeout)
}

// serverMode asks a server what it is: standalone, leader or follower. One that does not
// serve clients is an error.
func serverMode(address string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return "", err
	}
	_, rest, ok := strings.Cut(string(answer), "Mode: ")
	if !ok {
		return "", fmt.Errorf("srvr: %q", answer)
	}
	mode, _, _ := strings.Cut(rest, "\n")
	return mode, nil
}

// logTail returns the end of a server's log.
func logTail(dir string) string {
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-20):], []byte("\n")))
}
