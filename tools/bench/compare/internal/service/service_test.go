package service_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/compare/internal/service"
	"github.com/go-curator/curator/tools/bench/internal/installed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var services = map[string]struct {
	start   func(context.Context) (*service.Server, error)
	program string // the program that must be installed
	debian  string // a directory outside of PATH in which it may be
}{
	"etcd":       {service.Etcd, "etcd", "/nowhere"},
	"postgresql": {service.PostgreSQL, "initdb", "/usr/lib/postgresql/*/bin"},
}

// isInstalled reports whether a program is installed.
func isInstalled(t *testing.T, program, debian string) bool {
	t.Helper()
	_, err := exec.LookPath(program)
	found, globErr := filepath.Glob(filepath.Join(debian, program))
	if globErr != nil {
		t.Fatal(globErr)
	}
	return err == nil || len(found) > 0
}

// An installed service serves until it is closed, and leaves no files. For a service that is not
// installed the error names it.
func TestServices(t *testing.T) {
	for name, tt := range services {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", reachable(t))
			s, err := tt.start(t.Context())
			if _, ok := errors.AsType[*installed.AbsentError](err); ok {
				if isInstalled(t, tt.program, tt.debian) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			client, err := net.Dial("tcp", s.Address())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close() // the server must end although a client is connected
			started := time.Now()
			for range 2 {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if took := time.Since(started); took > 15*time.Second {
				t.Errorf("it took %v to end: it was killed", took)
			}
			if conn, err := net.Dial("tcp", s.Address()); err == nil {
				conn.Close()
				t.Error("it still serves")
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// reachable returns a temporary directory that other users can access.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "service-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestContextEndsStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range services {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", reachable(t))
			_, err := tt.start(ctx)
			var absent *installed.AbsentError
			if !errors.Is(err, context.Canceled) && !errors.As(err, &absent) {
				t.Error(err)
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestAbsentEtcd(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := service.Etcd(t.Context())
	if absent := new(installed.AbsentError); !errors.As(err, &absent) || absent.Name != "etcd" {
		t.Error(err)
	}
}
