package curatortest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Defaults of real servers. The tick is short, so that sessions can be.
const (
	realTickTime       = 500 * time.Millisecond
	realContainerCheck = time.Second
)

// Ensemble is one or more real ZooKeeper servers, each behind a proxy through which its
// network can be broken. Its own methods are about all servers and their clients, as those of
// [ZooKeeper] are; those of [Member] are about one server. Java: TestingCluster.
type Ensemble struct {
	tb      TB
	noTest  *noTest // what tb is if NewReal started the servers
	dir     string
	members []*Member
	peers   *wiring // nil for one server

	authority *authority // nil without TLS
	granted   granted
}

// Real starts one real server from ZOOKEEPER_HOME or the distribution's jars, and stops it
// at the end of the test. It has a tick of 500 ms and keeps its data in a temporary folder.
// The options of [Start] are good for it, but for Virtual and WithListen.
//
// Without ZooKeeper on the machine it says what to install: the test fails if the
// environment variable CI is "true", and is skipped otherwise.
func Real(tb TB, opts ...Option) *Ensemble {
	mustHaveTB(tb, "Real")
	tb.Helper()
	return startReal(tb, 1, opts)
}

// RealEnsemble starts n real servers that form an ensemble, and waits until each of them
// serves; else it is as Real.
func RealEnsemble(tb TB, n int, opts ...Option) *Ensemble {
	mustHaveTB(tb, "RealEnsemble")
	tb.Helper()
	return startReal(tb, n, opts)
}

// startReal starts servers and stops them at the end of the test.
func startReal(tb TB, n int, opts []Option) *Ensemble {
	tb.Helper()
	e, err := newEnsemble(n, opts)
	if err != nil {
		skipper, canSkip := tb.(interface{ Skipf(string, ...any) })
		if errors.Is(err, ErrNotInstalled) && canSkip && os.Getenv("CI") != "true" {
			skipper.Skipf("%v", err)
		}
		tb.Fatalf("start ZooKeeper: %v", err)
	}
	e.tb = tb
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Errorf("stop ZooKeeper: %v", err)
		}
	})
	return e
}

// NewReal starts n real servers outside of a test, as for TestMain. If the machine has no
// ZooKeeper, the error matches [ErrNotInstalled]. What a test would undo at its end lasts
// until it is undone, or the servers are closed.
func NewReal(n int, opts ...Option) (*Ensemble, error) { return newEnsemble(n, opts) }

// newEnsemble starts n servers, and again with other ports if they do not come up: between
// the choice of a free port and its use somebody else can take it.
func newEnsemble(n int, opts []Option) (*Ensemble, error) {
	c, err := newConfig(append([]Option{WithTickTime(realTickTime), WithContainerCheckInterval(realContainerCheck)}, opts...))
	if err != nil {
		return nil, err
	}
	if c.virtual || c.listen != "" {
		return nil, fmt.Errorf("%w: Virtual, WithListen: a real server has sockets, on ports that are free", ErrInvalidOption)
	}
	if n < 1 {
		return nil, fmt.Errorf("%w: %d servers", ErrInvalidOption, n)
	}
	if c.security.saslRequired && len(c.nodes) > 0 {
		return nil, fmt.Errorf("%w: WithNodes: servers WithSASLRequired let nobody make nodes who has no name", ErrInvalidOption)
	}
	if option, why := c.security.mistake(n); why != "" {
		return nil, fmt.Errorf("%w: %s: %s", ErrInvalidOption, option, why)
	}
	in, err := findInstallation()
	if err != nil {
		return nil, err
	}
	if err := c.security.prepare(); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		e, err := tryEnsemble(in, n, c)
		if err == nil || attempt == 3 || errors.Is(err, ErrInvalidOption) {
			return e, err
		}
	}
}

// tryEnsemble starts n servers once.
func tryEnsemble(in installation, n int, c config) (*Ensemble, error) {
	dir, err := os.MkdirTemp("", "curatortest-")
	if err != nil {
		return nil, err
	}
	e := &Ensemble{noTest: &noTest{}, dir: dir, authority: c.security.authority}
	e.tb = e.noTest
	setups, peers, err := newSetups(in, dir, n, c)
	e.peers = peers
	if err == nil {
		err = e.start(setups)
	}
	if err == nil {
		err = e.create(c.nodes)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// start starts a member for each setup and waits until all of them serve.
func (e *Ensemble) start(setups []setup) error {
	for _, s := range setups {
		m, err := newMember(e, s)
		if err != nil {
			return err
		}
		e.members = append(e.members, m)
	}
	return e.startStopped()
}

// Close stops the servers and removes their data. It can be called more than once. Its
// error tells, too, what went wrong before where there was no test to fail.
func (e *Ensemble) Close() error {
	var wg sync.WaitGroup
	for _, m := range e.members {
		wg.Go(m.close)
	}
	wg.Wait()
	if e.peers != nil {
		e.peers.close()
	}
	return errors.Join(os.RemoveAll(e.dir), e.noTest.err())
}

// Member returns server i, from 0. The test fails if there is none.
func (e *Ensemble) Member(i int) *Member {
	e.tb.Helper()
	if i < 0 || i >= len(e.members) {
		e.tb.Fatalf("Member(%d): the servers have the numbers 0 to %d", i, len(e.members)-1)
		return e.members[0]
	}
	return e.members[i]
}

// Members returns every server, in the order of their numbers.
func (e *Ensemble) Members() []*Member { return slices.Clone(e.members) }

// Leader returns the leader: the one server, if there is no other. It waits for an
// election that is under way. While two servers take themselves for the leader, one of which
// was deposed, it returns either: see Member.Mode.
func (e *Ensemble) Leader() *Member {
	e.tb.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(startTimeout); time.Now().Before(end); <-ticker.C {
		for _, m := range e.members {
			if mode := m.Mode(); mode != "" && mode != "follower" {
				return m
			}
		}
	}
	e.tb.Fatalf("no leader of ZooKeeper after %v", startTimeout)
	return e.members[0]
}
