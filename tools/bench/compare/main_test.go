package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/compare/internal/service"
	"github.com/go-curator/curator/tools/bench/internal/bench"
	"github.com/go-curator/curator/tools/bench/internal/installed"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
	"github.com/go-curator/curator/tools/bench/internal/protocol/protocoltest"
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

// TestMain makes the tests build programs without downloads.
func TestMain(m *testing.M) {
	if err := os.Setenv("GOPROXY", "off"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestKazoo(t *testing.T) {
	t.Parallel()
	protocoltest.Peer{Workloads: []string{
		protocol.Solo, protocol.Contend, protocol.Spread, protocol.Semaphore, protocol.Readers,
		protocol.TryFree, protocol.TryBusy, protocol.Floor, protocol.Drain, protocol.Hold,
	}}.CheckOnZooKeeper(t, kazoo)
}

func TestEtcd(t *testing.T) {
	onService(t, service.Etcd, etcd, protocoltest.Peer{Workloads: []string{
		protocol.Solo, protocol.Contend, protocol.Spread,
		protocol.TryFree, protocol.TryBusy, protocol.Floor, protocol.Drain, protocol.Hold,
	}})
}

func TestSQLInsert(t *testing.T) {
	onService(t, service.PostgreSQL, sqlInsert, protocoltest.Peer{Workloads: []string{
		protocol.Solo, protocol.Contend, protocol.Spread, protocol.TryFree, protocol.TryBusy,
	}})
}

// PostgreSQL sees a connection end.
func TestSQLUpdate(t *testing.T) {
	onService(t, service.PostgreSQL, sqlUpdate, protocoltest.Peer{Sessionless: true, Workloads: []string{
		protocol.Solo, protocol.Contend, protocol.Spread, protocol.Readers, protocol.Mix,
		protocol.TryFree, protocol.TryBusy, protocol.Hold,
	}})
}

// onService tests a peer in Go, if its service and the modules that it imports are installed.
func onService(t *testing.T, start func(context.Context) (*service.Server, error), program bench.Program, want protocoltest.Peer) {
	t.Helper()
	t.Parallel()
	server, err := start(t.Context())
	if absent := new(installed.AbsentError); errors.As(err, &absent) {
		t.Log(err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if cmd := offline(t, program, server.Address()); cmd != nil {
		want.Check(t, cmd)
	}
}

// offline builds a program. It returns nil if that needs a download.
func offline(t *testing.T, program bench.Program, address string) *exec.Cmd {
	t.Helper()
	cmd, err := program(t.Context(), t.TempDir(), address)
	if absent := new(installed.AbsentError); errors.As(err, &absent) && strings.Contains(err.Error(), "GOPROXY=off") {
		t.Log(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return cmd
}

// The error for a program that is not installed names the program.
func TestAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := etcd(t.Context(), t.TempDir(), "127.0.0.1:1")
	if absent := new(installed.AbsentError); !errors.As(err, &absent) || absent.Name != "go" {
		t.Error(err)
	}
}

// Modules that can be neither found nor downloaded are absent, too.
func TestAbsentModules(t *testing.T) {
	t.Setenv("GOMODCACHE", t.TempDir())
	for _, program := range []bench.Program{etcd, sqlInsert} {
		_, err := program(t.Context(), t.TempDir(), "127.0.0.1:1")
		if absent := new(installed.AbsentError); !errors.As(err, &absent) || !strings.Contains(absent.Install, "mod download") {
			t.Error(err)
		}
	}
}

// A peer that cannot reach its service says so, and ends.
func TestNoService(t *testing.T) {
	cmd := offline(t, sqlUpdate, "127.0.0.1:1") // nothing listens there
	if cmd == nil {
		return
	}
	if _, err := protocol.Start(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}
