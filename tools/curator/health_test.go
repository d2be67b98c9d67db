//go:build unix

package main

import (
	"strings"
	"testing"
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
