package zk

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

// server is a server of a TestCluster.
type server struct {
	start, stop func()
}

func (s *server) Start() error {
	s.start()
	return nil
}

func (s *server) Stop() error {
	s.stop()
	return nil
}

// granted is the least session timeout that a server which is alone grants. The driver's servers grant a second, and
// TestIntegration_SlowServer asks for less, with a network that delays the answer to the connect request by 4 s.
// The driver waits for that for 6.7 timeouts. Our session layer waits for a third of the timeout, in order to try
// other servers in time, and the calls wait for two timeouts at most.
const granted = 10 * time.Second

// StartTestCluster starts servers of curatortest, and waits until they serve: real ones, or the embedded server if
// DRIVERSUITE_SERVER is "embedded".
func StartTestCluster(t *testing.T, size int, _, _ io.Writer) (*TestCluster, error) {
	t.Helper()
	alone := curatortest.WithSessionTimeouts(granted, 2*granted)
	if os.Getenv("DRIVERSUITE_SERVER") == "embedded" {
		if size != 1 {
			return nil, fmt.Errorf("%d embedded servers", size)
		}
		s := curatortest.Start(t, alone)
		_, port, err := net.SplitHostPort(s.ConnectString())
		if err != nil {
			return nil, err
		}
		return newCluster([]TestServer{{Port: atoi(t, port), Srv: &server{slowly(s.Start), s.Stop}}}), nil
	}
	opts := []curatortest.Option{curatortest.WithReconfig()}
	if size == 1 {
		opts = append(opts, alone)
	}
	ensemble := curatortest.RealEnsemble(t, size, opts...)
	t.Cleanup(func() {
		for i, m := range ensemble.Members() {
			if t.Failed() {
				t.Logf("the log of server %d ends with:\n%s", i+1, m.Log())
			}
		}
	})
	var servers []TestServer
	for i, m := range ensemble.Members() {
		s := TestServer{Srv: &server{m.Start, m.Kill}, Config: ServerConfigServer{ID: i + 1, Host: "127.0.0.1"}}
		s.addPorts(t, m)
		servers = append(servers, s)
	}
	return newCluster(servers), nil
}

// slowly returns start with the time that a real server takes: a test that restarts a server takes it that the
// client has noticed that before the restart is over.
func slowly(start func()) func() {
	return func() {
		time.Sleep(1500 * time.Millisecond)
		start()
		time.Sleep(100 * time.Millisecond) // an attempt that was refused just before ends the calls that wait then
	}
}

func newCluster(servers []TestServer) *TestCluster {
	tc := &TestCluster{Servers: servers}
	for _, s := range servers {
		tc.Config.ClientPort = s.Port // that of the last server, as in the driver's StartTestCluster
		tc.Config.Servers = append(tc.Config.Servers, s.Config)
	}
	return tc
}

// addPorts adds the ports of the server itself. The proxies of curatortest would accept connections while the server
// is down.
func (s *TestServer) addPorts(t *testing.T, m *curatortest.Member) {
	t.Helper()
	member := fmt.Sprintf("server.%d=127.0.0.1:", s.Config.ID)
	for line := range strings.Lines(conf(t, m)) {
		line = strings.TrimSpace(line)
		if port, ok := strings.CutPrefix(line, "clientPort="); ok {
			s.Port = atoi(t, port)
		} else if ports, ok := strings.CutPrefix(line, member); ok {
			quorum, rest, _ := strings.Cut(ports, ":")
			election, _, _ := strings.Cut(rest, ":")
			s.Config.PeerPort, s.Config.LeaderElectionPort = atoi(t, quorum), atoi(t, election)
		}
	}
	if s.Port == 0 {
		t.Fatalf("server %d tells no port", s.Config.ID)
	}
}

// conf returns what a server answers to "conf".
func conf(t *testing.T, m *curatortest.Member) string {
	t.Helper()
	conn, err := net.DialTimeout("tcp", m.ConnectString(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("conf")); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// NewIntegrationTestServer returns a server that is not started. The driver's one test that calls it gives the
// server no list of members, so that it runs alone, and connects nothing to it: its configuration is not read.
func NewIntegrationTestServer(t *testing.T, _ string, _, _ io.Writer) (*server, error) {
	t.Helper()
	var running *curatortest.Ensemble
	return &server{
		start: func() { running = curatortest.Real(t) },
		stop:  func() { running.Stop() },
	}, nil
}

// waitForStart does nothing: servers of curatortest serve when they have been started. The driver's own asks them
// for "srvr", whose answer FLWSrvr cannot read since ZooKeeper 3.7.
func (tc *TestCluster) waitForStart(int, time.Duration) error { return nil }
