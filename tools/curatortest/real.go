package curatortest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/process"
)

// Defaults of real servers. The tick is short, so sessions can be short.
const (
	realTickTime       = 500 * time.Millisecond
	realContainerCheck = time.Second
)

// Real starts one real server from the folder of WithHome, from ZOOKEEPER_HOME or from the
// distribution's jars, and stops it at the end of the test. It has a tick of 500 ms and keeps
// its data in a temporary folder. It accepts the options of [Start] except Virtual, WithListen,
// WithRelease and WithKeeper.
//
// Without ZooKeeper or Java on the machine the test fails if the environment variable CI is "true", and
// is skipped otherwise, with a text that says what to install. If the folder of WithHome has no
// release, the test fails everywhere.
func Real(tb TB, opts ...Option) *Ensemble {
	mustHaveTB(tb, "Real")
	tb.Helper()
	return startReal(tb, 1, opts)
}

// RealEnsemble starts n real servers that form an ensemble, and waits until each of them
// serves. See Real.
func RealEnsemble(tb TB, n int, opts ...Option) *Ensemble {
	mustHaveTB(tb, "RealEnsemble")
	tb.Helper()
	return startReal(tb, n, opts)
}

// environment is a TB that has more variables for the environment of each server, as NAME=value: for
// tests of this module that run servers with a library of their own.
type environment interface {
	ServerEnvironment(i int) []string
}

// startReal starts servers and stops them at the end of the test.
func startReal(tb TB, n int, opts []Option) *Ensemble {
	tb.Helper()
	refuseSockets(tb)
	if with, ok := tb.(environment); ok {
		opts = append(slices.Clone(opts), option(func(c *config) { c.environment = with.ServerEnvironment }))
	}
	e, err := newEnsemble(n, opts)
	if err != nil {
		skipper, canSkip := tb.(interface {
			Skipf(format string, args ...any)
		})
		if errors.Is(err, ErrNotInstalled) && !isWrongHome(err) && canSkip && os.Getenv("CI") != "true" {
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
// ZooKeeper, the error matches [ErrNotInstalled]. Faults that would end with a test last until
// they are ended, or the servers are closed.
func NewReal(n int, opts ...Option) (*Ensemble, error) { return newEnsemble(n, opts) }

// newEnsemble starts n servers. If the system cannot reserve ports, another program can take a port
// before the server listens. newEnsemble then tries again with other ports.
func newEnsemble(n int, opts []Option) (*Ensemble, error) {
	c, err := newConfig(append([]Option{WithTickTime(realTickTime), WithContainerCheckInterval(realContainerCheck)}, opts...))
	if err != nil {
		return nil, err
	}
	if c.virtual || c.listen != "" {
		return nil, fmt.Errorf("%w: Virtual, WithListen: real servers use sockets, on free ports", ErrInvalidOption)
	}
	if c.only.embedded != "" {
		return nil, fmt.Errorf("%w: %s: only the embedded server has it", ErrInvalidOption, c.only.embedded)
	}
	if n < 1 {
		return nil, fmt.Errorf("%w: %d servers", ErrInvalidOption, n)
	}
	if c.security.saslRequired && len(c.nodes) > 0 {
		return nil, fmt.Errorf("%w: WithNodes: it cannot be used together with WithSASLRequired", ErrInvalidOption)
	}
	if option, why := c.security.mistake(n); why != "" {
		return nil, fmt.Errorf("%w: %s: %s", ErrInvalidOption, option, why)
	}
	in, err := c.installation()
	if err != nil {
		return nil, err
	}
	if err := c.security.prepare(); err != nil {
		return nil, err
	}
	attempts := 3
	if process.KeepsPorts {
		attempts = 1
	}
	for attempt := 1; ; attempt++ {
		e, err := tryEnsemble(in, n, c)
		if err == nil || attempt == attempts || errors.Is(err, ErrInvalidOption) {
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
	var setups []setup
	if e.ports, err = process.ReservePorts(portsOfServer * n); err == nil {
		setups, e.peers, err = newSetups(dir, n, e.ports.Numbers(), c)
	}
	if err == nil {
		err = e.start(in, setups)
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
func (e *Ensemble) start(in installation, setups []setup) error {
	for _, s := range setups {
		m, err := newMember(e, in, s)
		if err != nil {
			return err
		}
		e.members = append(e.members, m)
	}
	return e.startStopped()
}
