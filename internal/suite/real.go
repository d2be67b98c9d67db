package suite

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/go-curator/curator/tools/curatortest"
)

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
