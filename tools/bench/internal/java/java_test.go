package java_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/tools/bench/internal/installed"
	"github.com/go-curator/curator/tools/bench/internal/java"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
	"github.com/go-curator/curator/tools/bench/internal/protocol/protocoltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPeer(t *testing.T) {
	protocoltest.Peer{Workloads: []string{
		protocol.Solo, protocol.Contend, protocol.Spread, protocol.Semaphore, protocol.Readers, protocol.Mix,
		protocol.Reentry, protocol.TryFree, protocol.TryBusy, protocol.Floor, protocol.Drain, protocol.Hold,
		protocol.LeaderJoin, protocol.LeaderSuccession, protocol.CacheLoad, protocol.CacheFollow,
		protocol.DiscoveryRegister, protocol.DiscoveryChoose, protocol.DiscoveryQuery,
	}}.CheckOnZooKeeper(t, java.Program)
}

// The error for a part that is not installed names it.
func TestAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	_, err := java.Program(t.Context(), t.TempDir(), "127.0.0.1:1")
	if absent := new(installed.AbsentError); !errors.As(err, &absent) || absent.Name != "java" {
		t.Error(err)
	}
}
