package zookeeper

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	log "github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/sdk/physical"

	"github.com/go-curator/curator/tools/programs/scenario"
)

const (
	lockKey  = "core/lock"
	lockPath = "/vault/core/_lock"
	settle   = 30 * time.Second
)

// candidate does what Vault's core does with the lock of its HA backend: it waits for the lock, leads until
// the lock is lost or it steps down, releases the lock, and begins again with a new lock object. Where the
// core pauses for 10 s, a candidate pauses for a moment.
type candidate struct {
	t        *testing.T
	name     string
	link     *scenario.Link
	backend  *ZooKeeperBackend
	leaders  *scenario.Leaders
	leads    atomic.Bool
	stepDown chan struct{}
}

func newCandidate(t *testing.T, s *scenario.Server, name string, leaders *scenario.Leaders) *candidate {
	t.Helper()
	link := s.Link()
	backend, err := NewZooKeeperBackend(map[string]string{"address": link.Address(), "path": "/vault"}, log.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	c := &candidate{
		t: t, name: name, link: link, backend: backend.(*ZooKeeperBackend), leaders: leaders, stepDown: make(chan struct{}),
	}
	t.Cleanup(c.backend.client.Close)
	return c
}

// start runs the candidate until the end of the test.
func (c *candidate) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			c.term(ctx)
		}
	}()
	c.t.Cleanup(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(settle):
			c.t.Errorf("%s has not ended", c.name)
		}
	})
}

// term is the time from one attempt to get the lock to the end of holding it.
func (c *candidate) term(ctx context.Context) {
	lock, err := c.backend.LockWith(lockKey, c.name)
	if err != nil {
		c.t.Error(err)
		return
	}
	lost := c.acquire(ctx, lock)
	if lost == nil {
		return
	}
	c.leaders.Begin()
	c.leads.Store(true)
	steps := false
	select {
	case <-lost:
	case <-c.stepDown:
		steps = true
	case <-ctx.Done():
	}
	c.leads.Store(false)
	c.leaders.End()
	if err := lock.Unlock(); err != nil {
		c.t.Logf("%s: unlock: %v", c.name, err)
	}
	if steps { // the core gives others a chance, too
		rest(ctx, time.Second)
	}
}

// acquire calls Lock until it succeeds. It returns nil when ctx has ended.
func (c *candidate) acquire(ctx context.Context, lock physical.Lock) <-chan struct{} {
	for ctx.Err() == nil {
		lost, err := lock.Lock(ctx.Done())
		if err == nil {
			return lost
		}
		c.t.Logf("%s: lock: %v", c.name, err)
		rest(ctx, 200*time.Millisecond)
	}
	return nil
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// pair is a leader and a candidate that waits behind it.
type pair struct {
	t       *testing.T
	server  *scenario.Server
	leaders *scenario.Leaders
	a, b    *candidate
}

// newPair returns a pair of which a leads, and b is started by waitBehind.
func newPair(t *testing.T) *pair {
	t.Helper()
	s, leaders := scenario.Start(t), &scenario.Leaders{}
	p := &pair{t, s, leaders, newCandidate(t, s, "a", leaders), newCandidate(t, s, "b", leaders)}
	p.a.start()
	scenario.Within(t, settle, "a leads", p.a.leads.Load)
	return p
}

func (p *pair) waitBehind() {
	p.t.Helper()
	p.b.start()
	scenario.Within(p.t, settle, "b waits behind a", func() bool { return len(p.server.Children(lockPath)) == 2 })
}

// settles fails the test unless there is one leader, whoever it is, and leadership can go to each of them.
func (p *pair) settles() {
	p.t.Helper()
	scenario.Within(p.t, settle, "there is one leader", func() bool { return p.leaders.Count() == 1 })
	for _, c := range [][2]*candidate{{p.a, p.b}, {p.b, p.a}} {
		from, to := c[0], c[1]
		scenario.Within(p.t, settle, to.name+" leads", func() bool {
			select {
			case from.stepDown <- struct{}{}: // again if to did not wait yet
			default:
			}
			return to.leads.Load()
		})
	}
	if err := p.a.backend.Put(context.Background(), &physical.Entry{Key: "after", Value: []byte("a")}); err != nil {
		p.t.Errorf("Put after the fault: %v", err)
	}
}

// noOverlap fails the test if there were two leaders at a time.
func (p *pair) noOverlap() {
	p.t.Helper()
	overlap := p.leaders.Overlap()
	p.t.Logf(scenario.Measured+"two leaders for %v", overlap.Round(time.Millisecond))
	if overlap > 0 {
		p.t.Errorf("two leaders for %v", overlap)
	}
}

// Each fault happens while a leads and b waits. There must never be two leaders, afterwards there must be
// one, and leadership must be able to go from each to the other.
func TestFaults(t *testing.T) {
	t.Run("connection lost", func(t *testing.T) {
		p := newPair(t)
		p.waitBehind()
		p.a.link.Cut()
		p.b.link.Cut()
		p.settles()
		p.noOverlap()
	})
	t.Run("session expired", func(t *testing.T) {
		p := newPair(t)
		p.waitBehind()
		p.server.ExpireSession(p.a.link.Session())
		scenario.Within(t, settle, "b leads", p.b.leads.Load)
		p.settles()
		// The server ends the session without a warning, so that nobody can be told in time.
		t.Logf(scenario.Measured+"two leaders for %v", p.leaders.Overlap().Round(time.Millisecond))
	})
	t.Run("session of the waiter expired", func(t *testing.T) {
		p := newPair(t)
		p.waitBehind()
		p.server.ExpireSession(p.b.link.Session())
		p.settles()
		p.noOverlap()
	})
	t.Run("reply lost", func(t *testing.T) {
		p := newPair(t)
		lost := p.b.link.LoseReply("create", lockPath+"/")
		p.b.start()
		await(t, lost)
		p.settles()
		p.noOverlap()
	})
	t.Run("reply of the release lost", func(t *testing.T) {
		p := newPair(t)
		p.waitBehind()
		lost := p.a.link.LoseReply("delete", lockPath+"/")
		p.a.stepDown <- struct{}{}
		await(t, lost)
		scenario.Within(t, settle, "b leads", p.b.leads.Load)
		p.settles()
		p.noOverlap()
	})
	t.Run("server restarted", func(t *testing.T) {
		p := newPair(t)
		p.waitBehind()
		p.server.Restart()
		p.settles()
		p.noOverlap()
	})
	t.Run("two leaders", func(t *testing.T) { // the leader is cut off until its session has ended
		p := newPair(t)
		p.waitBehind()
		heal := p.a.link.Silence()
		scenario.Within(t, settle, "b leads", p.b.leads.Load)
		rest(t.Context(), 10*time.Second)
		heal()
		p.settles()
		p.noOverlap()
	})
}

func await(t *testing.T, lost <-chan struct{}) {
	t.Helper()
	select {
	case <-lost:
	case <-time.After(settle):
		t.Fatal("no request whose reply could be lost")
	}
}

// The path of the lock is what Vault makes of its key.
func TestLockPath(t *testing.T) {
	b := &ZooKeeperBackend{path: "/vault/"}
	if got := b.nodePath(lockKey); strings.TrimSuffix(got, "/") != lockPath {
		t.Errorf("the lock is at %s", got)
	}
}
