package curatortest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-curator/curator/internal/process"
)

// startTimeout bounds the time until a server serves, and stopTimeout the time until it ends after it
// was asked to.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// stopServer asks a server's process to end, and waits for its end. If that takes too long, it kills
// the process.
func stopServer(p *process.Process) {
	_ = p.Resume() // a suspended process would not handle SIGTERM
	p.Stop(syscall.SIGTERM, stopTimeout)
}

// awaitServing waits until the server with the process p serves clients. ask asks the server for its
// mode.
func awaitServing(p *process.Process, ask func() (string, error)) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(startTimeout); time.Now().Before(end); {
		if _, err := ask(); err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-p.Ended():
			return errors.New("the server's process has ended")
		}
	}
	return fmt.Errorf("the server does not serve after %v", startTimeout)
}

// errReadOnly is the error for a server that serves only reads; see WithReadOnlyMode.
var errReadOnly = errors.New("the server has no quorum")

// serverMode asks a server for its mode: standalone, leader or follower. It returns an error if the
// server serves no clients, or only reads.
func serverMode(address string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	return askMode(conn)
}

// askMode is serverMode on a connection, which it closes.
func askMode(conn net.Conn) (string, error) {
	answer, err := askWord(conn, "srvr")
	if err != nil {
		return "", err
	}
	_, rest, ok := strings.Cut(answer, "Mode: ")
	if !ok {
		return "", fmt.Errorf("srvr: %q", answer)
	}
	mode, _, _ := strings.Cut(rest, "\n")
	if mode == "read-only" {
		return "", errReadOnly
	}
	return mode, nil
}

// logLines is how many lines of a log a report has: a Java exception with its causes.
const logLines = 60

// logTail returns the end of a server's log, without the lines about the questions of serverMode, of which there are many.
func logTail(dir string) string {
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return err.Error()
	}
	lines := slices.DeleteFunc(bytes.Split(bytes.TrimSpace(log), []byte("\n")), func(line []byte) bool {
		return bytes.Contains(line, []byte("Processing srvr command"))
	})
	return string(bytes.Join(lines[max(0, len(lines)-logLines):], []byte("\n")))
}

// askWord returns a server's answer to a four-letter word, on a connection, which it closes.
func askWord(conn net.Conn, word string) (string, error) {
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte(word)); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}
