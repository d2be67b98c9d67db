package peers_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

// javaServers are the embedded servers of JVMs in which testdata/suite/TestingServer.java is the test server. It asks for
// them on a port.
type javaServers struct {
	listener net.Listener
	handlers sync.WaitGroup

	mu     sync.Mutex
	byPort map[int]*javaServer
}

// javaServer is one of them. Its data belongs to a folder, as that of a ZooKeeper server does.
type javaServer struct {
	*curatortest.Server
	folder string
	runs   bool
}

// startJavaServers returns servers that end with the test.
func startJavaServers(t *testing.T) *javaServers {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &javaServers{listener: listener, byPort: map[int]*javaServer{}}
	s.handlers.Go(s.serve)
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// port is where it is asked.
func (s *javaServers) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *javaServers) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // it was closed
		}
		s.handlers.Go(func() {
			defer conn.Close()
			request, err := bufio.NewReader(conn).ReadString('\n')
			if err == nil {
				fmt.Fprintln(conn, s.answer(strings.Fields(request)))
			}
		})
	}
}

func (s *javaServers) close() error {
	s.listener.Close()
	s.handlers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, server := range s.byPort {
		errs = append(errs, server.Close())
	}
	return errors.Join(errs...)
}

// answer does what is asked, and returns the line that says how it went.
func (s *javaServers) answer(words []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	port, err := s.do(words)
	if err != nil {
		return "error " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return fmt.Sprint("ok ", port)
}

// do does what is asked: "run" with a port, which may be 0, a folder, the tick and the interval of reaping in
// milliseconds; "stop" with a port; "close" with a port and a folder.
func (s *javaServers) do(words []string) (port int, err error) {
	if len(words) < 2 {
		return 0, fmt.Errorf("no request: %q", words)
	}
	if port, err = strconv.Atoi(words[1]); err != nil {
		return 0, err
	}
	server := s.byPort[port]
	switch what := words[0]; {
	case what == "run" && len(words) == 5:
		return s.run(port, words[2], words[3], words[4])
	case server == nil:
		return 0, fmt.Errorf("%s: no server has this port", words)
	case what == "stop":
		server.Stop()
		server.runs = false
		return port, nil
	case what == "close" && len(words) == 3:
		if server.folder != words[2] {
			return port, nil // another one has taken the port
		}
		delete(s.byPort, port)
		return port, server.Close()
	}
	return 0, fmt.Errorf("no request: %q", words)
}

func (s *javaServers) run(port int, folder, tick, reaping string) (int, error) {
	switch present := s.byPort[port]; {
	case present == nil:
	case present.runs:
		return 0, fmt.Errorf("port %d: address in use", port)
	case present.folder == folder:
		present.Start()
		present.runs = true
		return port, nil
	default: // it was stopped, which leaves its port to others
		if err := present.Close(); err != nil {
			return 0, err
		}
		delete(s.byPort, port)
	}
	tickTime, err := time.ParseDuration(tick + "ms")
	if err != nil {
		return 0, err
	}
	interval, err := time.ParseDuration(reaping + "ms")
	if err != nil {
		return 0, err
	}
	server, err := curatortest.New(curatortest.WithListen(fmt.Sprintf("127.0.0.1:%d", port)), curatortest.WithTickTime(tickTime),
		curatortest.WithSessionTimeouts(tickTime, 20*tickTime), curatortest.WithContainerCheckInterval(interval))
	if err != nil {
		return 0, err
	}
	_, text, err := net.SplitHostPort(server.ConnectString())
	if err != nil {
		return 0, err
	}
	if port, err = strconv.Atoi(text); err != nil {
		return 0, err
	}
	s.byPort[port] = &javaServer{Server: server, folder: folder, runs: true}
	return port, nil
}

// ask asks as testdata/suite/TestingServer.java does.
func (s *javaServers) ask(t *testing.T, request string) (port int, err error) {
	t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(answer, "ok %d", &port); err != nil {
		return 0, errors.New(strings.TrimSpace(answer))
	}
	return port, nil
}

// A server that was stopped runs again with its data at the same port and folder, and a new one is empty.
func TestJavaServers(t *testing.T) {
	s := startJavaServers(t)
	request := func(format string, args ...any) int {
		t.Helper()
		port, err := s.ask(t, fmt.Sprintf(format, args...))
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	nodes := func(port int) []string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.byPort[port].Children("/")
	}
	port := request("run 0 /a 500 1000")
	client := s.byPort[port].Client(t)
	if _, err := client.Create().ForPath(t.Context(), "/node"); err != nil {
		t.Fatal(err)
	}
	for _, refused := range []string{
		fmt.Sprintf("run %d /b 500 1000", port), "stop 1", "close 1 /a", "run x /a 500 1000", "run 0 /a x 1000", "run 0 /a 500 x", "run 0 /a", "x",
	} {
		if _, err := s.ask(t, refused); err == nil {
			t.Errorf("%q was not refused", refused)
		}
	}
	request("stop %d", port)
	request("run %d /a 500 1000", port)
	if got := nodes(port); !slices.Equal(got, []string{"node", "zookeeper"}) {
		t.Errorf("after a restart: %q", got)
	}
	request("stop %d", port)
	request("run %d /b 500 1000", port)
	if got := nodes(port); !slices.Equal(got, []string{"zookeeper"}) {
		t.Errorf("a new server has %q", got)
	}
	request("close %d /a", port)
	if got := nodes(port); got == nil {
		t.Error("the close of the former server has closed the new one")
	}
	request("close %d /b", port)
	if _, err := s.ask(t, fmt.Sprintf("stop %d", port)); err == nil {
		t.Error("a closed server was stopped")
	}
}
