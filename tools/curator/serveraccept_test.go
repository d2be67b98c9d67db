//go:build unix

package main

import (
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// TestServerWithTooManyConnections opens more connections than the server may have files. The server
// serves the clients that it has, logs once that it cannot accept more, and accepts more when it
// can.
func TestServerWithTooManyConnections(t *testing.T) {
	t.Parallel()
	p := startCmd(t, exec.Command("sh", "-c", `ulimit -n 20 && exec "$0" server --listen 127.0.0.1:0`, tool))
	suite.Eventually(t, "the server", func() bool { return strings.Contains(p.out.String(), "\n") })
	address, _, _ := strings.Cut(p.out.String(), " ")
	first := newWatcher(t, address)
	if _, err := first.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/lock"); err != nil {
		t.Fatal(err)
	}
	session := first.SessionID()

	const complaint = "cannot accept connections"
	var crowd []net.Conn
	suite.Eventually(t, "a crowd that the server cannot accept", func() bool {
		if len(crowd) < 60 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			crowd = append(crowd, conn)
		}
		return strings.Contains(p.err.String(), complaint)
	})
	if exists, err := first.CheckExists().ForPath(t.Context(), "/lock"); err != nil || !exists || first.SessionID() != session {
		t.Errorf("the first client: %t, %v", exists, err)
	}
	for _, conn := range crowd {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	second := newWatcher(t, address)
	if exists, err := second.CheckExists().ForPath(t.Context(), "/lock"); err != nil || !exists {
		t.Errorf("the second client: %t, %v", exists, err)
	}
	if said := p.err.String(); strings.Count(said, complaint) != 1 {
		t.Errorf("said:\n%s", said)
	}
	select {
	case <-p.ended:
		t.Error(fmt.Sprint("the server has ended: ", &p.err))
	default:
	}
}
