package framework_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// smallBuffer is the jute.maxbuffer of the servers. They read what is twice as long: zookeeper.jute.maxbuffer.extrasize
// is the same if nothing is set.
const smallBuffer = 8 << 10

// smallServers is a test whose real servers have that jute.maxbuffer, and may fail.
type smallServers struct {
	*testing.T
	failure string
}

func (s *smallServers) ServerEnvironment(int) []string {
	return []string{fmt.Sprintf("JAVA_TOOL_OPTIONS=-Djute.maxbuffer=%d", smallBuffer)}
}

// Fatalf keeps the failure.
func (s *smallServers) Fatalf(format string, args ...any) {
	s.failure = fmt.Sprintf(format, args...)
}

// unreadable reports whether a server did not start because of a transaction in its log. The end of its own log has one
// of these lines.
func unreadable(failure string) bool {
	return strings.Contains(failure, "Unreasonable length") || strings.Contains(failure, "persistence.Util.readTxnBytes")
}

// longEphemeral is the path of an ephemeral node.
func longEphemeral(i int) string { return fmt.Sprintf("/%04d-%s", i, strings.Repeat("x", 500)) }

// startSmall starts n servers.
func startSmall(t *testing.T, n int) (*smallServers, *curatortest.Ensemble) {
	t.Helper()
	small := &smallServers{T: t}
	ensemble := curatortest.RealEnsemble(small, n)
	if small.failure != "" {
		t.Fatal(small.failure)
	}
	return small, ensemble
}

// closeLarge closes a session with ephemeral nodes of more than servers read, by a client that counts nothing.
func closeLarge(t *testing.T, m *curatortest.Member) {
	t.Helper()
	conn, err := net.Dial("tcp", m.ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	raw, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10_000, Passwd: make([]byte, 16)})
	if err != nil {
		t.Fatal(err)
	}
	open := []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"}}}
	for i, size := 0, 0; size <= 2*smallBuffer; i++ {
		path := longEphemeral(i)
		size += 4 + len(path)
		reply, err := raw.Do(jute.OpCreate, &jute.CreateRequest{Path: path, Data: []byte{}, ACL: open, Flags: jute.FlagEphemeral})
		if err != nil || reply.Err != jute.CodeOK {
			t.Fatalf("create %d: %v, code %d", i, err, reply.Err)
		}
	}
	if _, err := raw.Send(jute.OpClose, nil); err != nil {
		t.Fatal(err)
	}
	reply, err := raw.Receive()
	t.Logf("closeSession: %v, code %d", err, reply.Err)
}

// refusedFirst creates ephemeral nodes until the client refuses one, and closes it.
func refusedFirst(t *testing.T, ensemble *curatortest.Ensemble) {
	t.Helper()
	client, err := framework.NewClient(ensemble.ConnectString(), retry.None(), framework.WithJuteMaxBuffer(smallBuffer))
	if err == nil {
		err = client.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		_, err = client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), longEphemeral(n))
	}
	if want := smallBuffer * 3 / 4 / (4 + len(longEphemeral(0))); !errors.Is(err, framework.ErrTooLarge) || framework.MaybeApplied(err) || n-1 != want {
		t.Errorf("%d nodes, then %v; want %d and ErrTooLarge", n-1, err, want)
	}
	if err := client.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestCloseSessionEndsServer shows ZOOKEEPER-4306 on one server: it does not start again behind the end of a session with
// many ephemeral nodes. With this client the end of the session is no danger.
func TestCloseSessionEndsServer(t *testing.T) {
	t.Parallel()
	small, server := startSmall(t, 1)
	refusedFirst(t, server)
	server.Restart()
	if small.failure != "" {
		t.Fatalf("the server ended: %s", small.failure)
	}
	closeLarge(t, server.Member(0))
	server.Restart()
	if !unreadable(small.failure) {
		t.Errorf("the server started again, or failed otherwise: %q", small.failure)
	}
}

// TestCloseSessionEndsEnsemble shows the same on an ensemble, which has no quorum soon, and none again when its servers are
// started again.
func TestCloseSessionEndsEnsemble(t *testing.T) {
	t.Parallel()
	small, ensemble := startSmall(t, 3)
	defer func() {
		if !t.Failed() {
			return
		}
		for _, m := range ensemble.Members() {
			t.Log(m.Log())
		}
	}()
	refusedFirst(t, ensemble)
	closeLarge(t, ensemble.Member(0))
	awaitNoQuorum(t, ensemble)
	ensemble.Restart()
	if !unreadable(small.failure) {
		t.Errorf("the ensemble started again, or failed otherwise: %q", small.failure)
	}
}

// awaitNoQuorum waits until a majority of the servers does not serve.
func awaitNoQuorum(t *testing.T, ensemble *curatortest.Ensemble) {
	t.Helper()
	begin := time.Now()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		<-ticker.C
		var modes []string
		serving := 0
		for _, m := range ensemble.Members() {
			mode := m.Mode()
			if modes = append(modes, mode); mode != "" {
				serving++
			}
		}
		switch {
		case serving < 2:
			t.Logf("no quorum after %v: %q", time.Since(begin), modes)
			return
		case time.Since(begin) > 30*time.Second:
			t.Fatalf("the ensemble still serves: %q", modes)
		}
	}
}
