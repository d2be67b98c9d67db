package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/tools/bench/internal/results"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestCommand runs the whole command on real servers, from the flags to the results and the plots. A
// peer that is not installed is in the table of absent peers.
func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	json, plots := filepath.Join(dir, "results.json"), filepath.Join(dir, "plots")
	err := command().Run(t.Context(), []string{
		"-connect", curatortest.Real(t).ConnectString(), "-run", "^solo$", "-rounds", "1", "-warm-up", "10ms", "-duration", "50ms",
		"-peers", "curator,kazoo,etcd,sql-update", "-json", json, "-plots", plots,
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := results.Read(json)
	if err != nil {
		t.Fatal(err)
	}
	names := f.Peers("solo")
	for _, a := range f.Absent {
		if !strings.Contains(a.Reason, "is not installed") {
			t.Errorf("%s: %s", a.Peer, a.Reason)
		}
		names = append(names, a.Peer)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "curator etcd kazoo sql-update" {
		t.Errorf("measured or absent: %s", got)
	}
	if _, err := os.Stat(filepath.Join(plots, "contention.svg")); errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
