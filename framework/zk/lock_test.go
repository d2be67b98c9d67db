package zk_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	driver "github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// locker is a Lock of ours or of the driver.
type locker interface {
	Lock() error
	Unlock() error
}

// Locks of ours and of the driver have one holder at a time, while connections end.
func TestLockBesideDriver(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		p := b.Path("lock") + "/below"
		var holders, taken atomic.Int32
		var all sync.WaitGroup
		contend := func(c api, l locker, n *suite.Network) {
			for i := range 6 {
				if n != nil && i%2 == 1 {
					n.Cut()
				}
				if err := l.Lock(); err != nil {
					continue // by a connection that has ended
				}
				if holders.Add(1) != 1 {
					t.Error("two holders")
				}
				taken.Add(1)
				_, _, _ = c.Exists("/") // it takes a moment
				holders.Add(-1)
				err := l.Unlock()
				for err != nil && err != zk.ErrNoNode && err != zk.ErrNotLocked { // by a connection that has ended
					err = l.Unlock()
				}
			}
		}
		for range 2 {
			ours, _, n := connect(t, b)
			all.Go(func() { contend(ours, zk.NewLock(ours, p, world), n) })
			theirs, _, _ := connectDriver(t, b)
			all.Go(func() { contend(theirs, driver.NewLock(theirs, p, world), nil) })
		}
		all.Wait()
		if taken.Load() < 12 {
			t.Errorf("taken %d times", taken.Load())
		}
		c, _, _ := connect(t, b)
		if names, _, err := c.Children(p); err != nil || len(names) != 0 {
			t.Errorf("left behind: %q, %v", names, err)
		}
	})
}

// A Lock says what it is asked to do twice, and its node has the data and the name of the driver's.
func TestLockStates(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, _, _ := connect(t, b)
		l := zk.NewLock(c, "/l", world)
		wants := []struct {
			do   func() error
			want error
		}{
			{l.Unlock, zk.ErrNotLocked},
			{func() error { return l.LockWithData([]byte("me")) }, nil},
			{l.Lock, zk.ErrDeadlock},
			{l.Unlock, nil},
			{l.Unlock, zk.ErrNotLocked},
			{l.Lock, nil},
			{zk.NewLock(c, "l", world).Lock, zk.ErrInvalidPath},
			{zk.NewLock(c, "/l/", world).Lock, zk.ErrInvalidPath},
			{zk.NewLock(c, "/x", nil).Lock, zk.ErrInvalidACL},
		}
		for i, w := range wants {
			if err := w.do(); err != w.want {
				t.Errorf("%d: %v", i, err)
			}
		}
		names, _, err := c.Children("/l")
		if err != nil || len(names) != 1 || len(names[0]) != len("_c_")+32+len("-lock-0000000001") || !strings.HasSuffix(names[0], "-lock-0000000001") {
			t.Errorf("%q, %v", names, err)
		}
		if err := c.Delete("/l/"+names[0], -1); err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(); err != zk.ErrNoNode {
			t.Error(err)
		}
		if err := l.Lock(); err != nil {
			t.Error(err)
		}
	})
}

// lockFaults are what can happen to Lock. It fails or has the lock, and no node is left behind.
var lockFaults = map[string]struct {
	fault func(t *testing.T, b *suite.Backend, c *zk.Conn, n *suite.Network)
	want  []error // any of them
}{
	"the create is lost": {func(_ *testing.T, _ *suite.Backend, _ *zk.Conn, n *suite.Network) {
		n.On(jute.OpCreate2, suite.CutBefore, nil)
	}, []error{nil}},
	"the answer to the create is lost": {func(_ *testing.T, _ *suite.Backend, _ *zk.Conn, n *suite.Network) {
		n.On(jute.OpCreate2, suite.CutAfter, nil)
	}, []error{nil}},
	"the list is lost": {func(_ *testing.T, _ *suite.Backend, _ *zk.Conn, n *suite.Network) {
		n.On(jute.OpGetChildren2, suite.CutAfter, nil)
	}, []error{zk.ErrConnectionClosed}},
	"the session ends while it waits": {func(t *testing.T, _ *suite.Backend, _ *zk.Conn, n *suite.Network) {
		n.Expire(t)
	}, []error{zk.ErrSessionExpired}},
	"the connection ends while it waits": {func(_ *testing.T, _ *suite.Backend, _ *zk.Conn, n *suite.Network) { n.Cut() }, []error{nil}},
	"Close":                              {func(_ *testing.T, _ *suite.Backend, c *zk.Conn, _ *suite.Network) { c.Close() }, []error{zk.ErrClosing, zk.ErrConnectionClosed}},
	"its node is deleted": {func(t *testing.T, b *suite.Backend, c *zk.Conn, _ *suite.Network) {
		names, _, err := c.Children("/l")
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "1") {
				err = c.Delete("/l/"+name, -1)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}, []error{zk.ErrNoNode}},
	"cut off": {func(_ *testing.T, b *suite.Backend, c *zk.Conn, _ *suite.Network) {
		b.Server().PartitionSession(c.SessionID(), curatortest.Both)
	}, []error{zk.ErrSessionExpired, zk.ErrConnectionClosed, zk.ErrNoServer}},
}

func TestLockFaults(t *testing.T) {
	for name, f := range lockFaults {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				holder, _, _ := connect(t, b)
				c, ch, n := connect(t, b)
				await(t, ch, zk.StateHasSession)
				first := zk.NewLock(holder, "/l", world)
				if err := first.Lock(); err != nil {
					t.Fatal(err)
				}
				atOnce := strings.HasPrefix(name, "the ") && strings.HasSuffix(name, "lost")
				if atOnce {
					f.fault(t, b, c, n)
				}
				l := zk.NewLock(c, "/l", world)
				got := make(chan error, 1)
				go func() { got <- l.Lock() }()
				time.Sleep(time.Second)
				if !atOnce {
					f.fault(t, b, c, n)
				}
				time.Sleep(2 * sessionTimeout)
				if err := first.Unlock(); err != nil {
					t.Fatal(err)
				}
				err := <-got
				found := false
				for _, want := range f.want {
					found = found || err == want
				}
				if !found {
					t.Errorf("%v", err)
				}
				if err == nil {
					if err := l.Unlock(); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(2 * sessionTimeout)
				synctest.Wait()
				if names := b.Server().Children("/l"); len(names) != 0 {
					t.Errorf("left behind: %q", names)
				}
			})
		})
	}
}
