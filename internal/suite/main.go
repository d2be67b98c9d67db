package suite

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/process"
	"github.com/go-curator/curator/tools/curatortest"
)

// Main is for TestMain: it runs the tests, calls the functions of cleanUp, stops the real
// server if one was started, and fails if a goroutine is left. Programs that tests start get the
// signals that they are sent, even if the tests were started by nohup.
func Main(m *testing.M, cleanUp ...func() error) {
	process.ResetSignals()
	if os.Getenv("GOGC") == "" { // each client's driver takes 1.5 MB when it is made, and tests make thousands
		debug.SetGCPercent(300)
	}
	code := m.Run()
	for _, f := range append(cleanUp, realServers.close) {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "suite:", err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "suite:", err)
		code = 1
	}
	os.Exit(code)
}

// LeaveOut is for TestMain: the tests whose names match a pattern are neither run nor skipped, like those that the
// command line leaves out.
func LeaveOut(pattern string) {
	flag.Parse()
	if already := flag.Lookup("test.skip").Value.String(); already != "" {
		pattern += "|" + already
	}
	if err := flag.Set("test.skip", pattern); err != nil {
		panic(err)
	}
}

// MainWithServer is Main for a package with examples, which read as programs do: they
// connect to connectString, an embedded server's, and log nothing.
func MainWithServer(m *testing.M, connectString *string) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	server, err := curatortest.New()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite: no server for the examples:", err)
		os.Exit(1)
	}
	*connectString = server.ConnectString()
	Main(m, server.Close)
}

// realServers are the real servers of the process by their names. Each starts with the first test
// that needs it and ends with Main: a JVM for each test would take longer than the tests.
var realServers serverSet

type serverSet struct {
	mu     sync.Mutex
	byName map[string]*realServer
}

type realServer struct {
	once     sync.Once
	ensemble *curatortest.Ensemble
	err      error
}

// start returns the server with a name, and starts it if it does not run yet.
func (set *serverSet) start(t *testing.T, name string, opts ...curatortest.Option) *curatortest.Ensemble {
	t.Helper()
	s := set.named(name)
	s.once.Do(func() { s.ensemble, s.err = curatortest.NewReal(1, opts...) })
	if errors.Is(s.err, curatortest.ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.ensemble
}

func (set *serverSet) named(name string) *realServer {
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.byName == nil {
		set.byName = map[string]*realServer{}
	}
	if set.byName[name] == nil {
		set.byName[name] = &realServer{}
	}
	return set.byName[name]
}

// close ends the servers. It is called when no test runs any more.
func (set *serverSet) close() error {
	var errs []error
	for _, s := range set.byName {
		if s.ensemble != nil {
			errs = append(errs, s.ensemble.Close())
		}
	}
	return errors.Join(errs...)
}
