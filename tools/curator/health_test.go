//go:build unix

package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestHealth(t *testing.T) {
	onServers(t, func(t *testing.T, s *server) {
		if stdout, _ := s.ask(0, "health"); !strings.Contains(stdout, s.address+"  standalone  0x") {
			t.Errorf("stdout %q", stdout)
		}
		if stdout, _ := s.ask(0, "health", "-o", "json"); !strings.Contains(stdout, `"healthy": true`) || !strings.Contains(stdout, `"mode": "standalone"`) {
			t.Errorf("stdout %q", stdout)
		}
		nobody := freeAddress(t)
		stdout, stderr := s.ask(1, "health", "--connect", s.address+","+nobody)
		if !strings.Contains(stdout, nobody+"  down  ") || !strings.Contains(stdout, "connection refused") || stderr != "curator: the ensemble is not healthy\n" {
			t.Errorf("stdout %q, stderr %q", stdout, stderr)
		}
	})
}

// TestHealthByAdminServer asks a server whose port for clients does not answer.
func TestHealthByAdminServer(t *testing.T) {
	t.Parallel() // it waits
	server := curatortest.Real(t, curatortest.WithTickTime(tick), curatortest.WithAdminServer())
	port := strconv.Itoa(server.Member(0).AdminPort())
	suite.Eventually(t, "the AdminServer, which takes its time at first", func() bool {
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://127.0.0.1:" + port + "/commands/ruok")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
	code, stdout, stderr := runHere(t, nil, "health", "--connect", talker(t, ""), "--admin-port", port, "-o", "json")
	if code != 0 || !strings.Contains(stdout, `"mode": "standalone"`) || !strings.Contains(stdout, `"version": "3.`) || !strings.Contains(stdout, `"zxid": "0x`) {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
