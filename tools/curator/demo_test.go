//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestDemo runs the demonstration without a terminal. Package demo tests its events, in virtual
// time.
func TestDemo(t *testing.T) {
	t.Parallel()
	p := start(t, "demo", "--speed", "5")
	p.wantExit(0)
	lines := p.lines()
	if len(lines) < 8 || !strings.HasPrefix(lines[0], "curator demo: a ZooKeeper server inside this process, at 127.0.0.1:") ||
		!strings.Contains(p.out.String(), " is killed, ") || !strings.Contains(lines[len(lines)-1], "the end: ") {
		t.Errorf("stdout %q", lines)
	}
}
