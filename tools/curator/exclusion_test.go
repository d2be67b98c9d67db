//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func writeFile(t *testing.T, name, content string, mode os.FileMode) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// Processes that take one lock repeatedly never hold it at the same time, and their tokens rise. Each
// CMD writes at its beginning and at its end, so that every overlap is seen.
func TestExclusion(t *testing.T) {
	t.Parallel()
	onServers(t, testExclusion)
}

func testExclusion(t *testing.T, s *server) {
	const processes, rounds = 4, 10
	journal := writeFile(t, "journal", "", 0o600)
	script := `echo "in $CURATOR_FENCING_TOKEN" >>"$1"; echo "out $CURATOR_FENCING_TOKEN" >>"$1"`
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			for range rounds {
				p := s.lock("--", "sh", "-c", script, "sh", journal)
				if code := p.wait(); code != 0 {
					t.Errorf("exit code %d, stderr %q", code, &p.err)
				}
			}
		})
	}
	wg.Wait()
	if n := checkJournal(t, journal); n != processes*rounds {
		t.Errorf("%d rounds, want %d", n, processes*rounds)
	}
	s.wantFree()
}

// checkJournal returns the number of holds in the journal. It fails the test if two holds overlap
// or the tokens do not rise.
func checkJournal(t *testing.T, path string) (rounds int) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last, inside := int64(0), int64(0)
	for i, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		var what string
		var token int64
		if _, err := fmt.Sscanf(line, "%s %d", &what, &token); err != nil {
			t.Fatalf("line %d: %q: %v", i+1, line, err)
		}
		switch {
		case what == "in" && inside == 0 && token > last:
			inside, last = token, token
		case what == "out" && inside == token:
			inside = 0
			rounds++
		default:
			t.Fatalf("line %d: %q, with %d inside and %d the last token", i+1, line, inside, last)
		}
	}
	if inside != 0 {
		t.Fatalf("%d is still in", inside)
	}
	return rounds
}
