package zk_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// Who has a place in a queue is told of the end of the session before the servers delete its node, also by a client that is
// cut off.
func TestToldBeforeTheNext(t *testing.T) {
	places := map[string]func(c *zk.Conn) (string, error){
		"sequential": func(c *zk.Conn) (string, error) { return c.Create("/mine-", nil, zk.FlagEphemeralSequential, world) },
		"protected":  func(c *zk.Conn) (string, error) { return c.CreateProtectedEphemeralSequential("/mine-", nil, world) },
		"multi": func(c *zk.Conn) (string, error) {
			made, err := c.Multi(&zk.CreateRequest{Path: "/mine-", Acl: world, Flags: zk.FlagEphemeralSequential})
			if err != nil {
				return "", err
			}
			return made[0].String, nil
		},
		"lock": func(c *zk.Conn) (string, error) {
			err := zk.NewLock(c, "/lock", world).Lock()
			names, _, err2 := c.Children("/lock")
			return "/lock/" + strings.Join(names, ""), errors.Join(err, err2)
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				c, ch, _ := connect(t, b)
				other, _, _ := connect(t, b)
				mine, err := place(c)
				if err != nil {
					t.Fatal(err)
				}
				_, _, watch, err := c.GetW(mine)
				if err != nil {
					t.Fatal(err)
				}
				_, _, gone, err := other.ExistsW(mine)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * sessionTimeout)
				synctest.Wait()
				b.Server().PartitionSession(c.SessionID(), curatortest.Both)
				if e := next(t, watch); e.Type != zk.EventNotWatching || e.Err != zk.ErrSessionExpired || e.Path != mine {
					t.Errorf("%v", e)
				}
				told := time.Now()
				await(t, ch, zk.StateExpired)
				if e := next(t, gone); e.Type != zk.EventNodeDeleted {
					t.Errorf("%v", e)
				}
				if before := time.Since(told); before < sessionTimeout/16 {
					t.Errorf("told only %v before", before)
				}
			})
		})
	}
}

// An outage that is shorter than the session timeout costs neither the session nor an ephemeral node that is no place in
// a queue.
func TestShortOutage(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, ch, n := connect(t, b)
		if _, err := c.Create("/me", nil, zk.FlagEphemeral, world); err != nil {
			t.Fatal(err)
		}
		await(t, ch, zk.StateHasSession)
		session := c.SessionID()
		time.Sleep(3 * sessionTimeout)
		heal := n.Isolate()
		time.Sleep(sessionTimeout * 9 / 10)
		heal()
		time.Sleep(2 * sessionTimeout)
		synctest.Wait()
		if _, s, err := c.Get("/me"); err != nil || s.EphemeralOwner != session || c.SessionID() != session {
			t.Errorf("%v, session %#x behind %#x", err, c.SessionID(), session)
		}
	})
}

// When all servers have been tried in vain calls return ErrNoServer at once, and a call that begins then waits for the next
// round only.
func TestNoServer(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		b.Server().Refuse()
		c, _, _ := connect(t, b)
		for range 3 {
			began := time.Now()
			if _, _, err := c.Get("/"); err != zk.ErrNoServer {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("after %v", took)
			}
		}
		if _, err := c.CreateProtectedEphemeralSequential("/x-", nil, world); err != zk.ErrNoServer {
			t.Errorf("%v", err)
		}
	})
}

// No call outlives two session timeouts, whatever the network does.
func TestBound(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, ch, n := connect(t, b)
		await(t, ch, zk.StateHasSession)
		heal := n.Isolate()
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				time.Sleep(time.Duration(i) * sessionTimeout / 7)
				began := time.Now()
				_, _, err := c.Get("/")
				if took := time.Since(began); err == nil || took > 2*sessionTimeout {
					t.Errorf("%v after %v", err, took)
				}
			})
		}
		calls.Wait()
		heal()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, _, err := c.Get("/"); err != nil {
			t.Error(err)
		}
	})
}

// A request that waits while there is no connection is sent on the next one.
func TestWaitsForConnection(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		n := network(t, b)
		c, ch, err := zk.Connect([]string{b.ConnectString()}, sessionTimeout, zk.WithDialer(dialer(n)),
			zk.WithHostProvider(&oneServer{}), zk.WithLogger(silent{}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		await(t, ch, zk.StateHasSession)
		accept := b.Server().Refuse()
		b.Server().Disconnect()
		synctest.Wait()
		done := make(chan error, 1)
		go func() {
			_, err := c.Create("/late", nil, 0, world)
			done <- err
		}()
		time.Sleep(sessionTimeout / 4)
		accept()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What a session was relied on for ends with it: the next one is kept over a longer outage again.
func TestRelianceEnds(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, ch, n := connect(t, b)
		if err := zk.NewLock(c, "/l", world).Lock(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Create("/none/n-", nil, zk.FlagEphemeralSequential, world); err != zk.ErrNoNode {
			t.Fatal(err)
		}
		n.Expire(t)
		await(t, ch, zk.StateExpired)
		await(t, ch, zk.StateHasSession)
		id := c.SessionID()
		time.Sleep(3 * sessionTimeout)
		b.Server().Stop()
		time.Sleep(3 * sessionTimeout)
		synctest.Wait()
		b.Server().Start()
		if await(t, ch, zk.StateHasSession); c.SessionID() != id {
			t.Errorf("session %#x after %#x", c.SessionID(), id)
		}
	})
}

// A call right behind EventNotWatching of an expired session waits for the next one, as with the driver.
func TestCallBehindExpiry(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, _, _ := connect(t, b)
		for range 8 {
			_, _, ended, err := c.ChildrenW("/")
			if err != nil {
				t.Fatal(err)
			}
			b.Server().ExpireSession(c.SessionID())
			if e := next(t, ended); e.Type != zk.EventNotWatching {
				t.Fatalf("%v", e)
			}
			if _, _, err := c.Children("/"); err != nil {
				t.Error(err)
			}
		}
	})
}

// A session without an ephemeral node outlives an outage of three timeouts, if the servers have kept it, as with the
// driver, and so do its watches. One with an ephemeral node is given up.
func TestLongOutage(t *testing.T) {
	for _, holding := range []bool{false, true} {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			c, ch, _ := connect(t, b)
			await(t, ch, zk.StateHasSession)
			id := c.SessionID()
			if holding {
				if _, err := c.Create("/ephemeral", nil, zk.FlagEphemeral, world); err != nil {
					t.Fatal(err)
				}
			}
			_, _, watch, err := c.ExistsW("/n")
			if err != nil {
				t.Fatal(err)
			}
			b.Server().Stop()
			time.Sleep(3 * sessionTimeout)
			synctest.Wait()
			b.Server().Start()
			states := await(t, ch, zk.StateHasSession)
			if slices.Contains(states, zk.StateExpired) != holding || (c.SessionID() == id) == holding {
				t.Errorf("%v, session %#x after %#x", states, c.SessionID(), id)
			}
			makeAll(t, c, "/n")
			if e := next(t, watch); (e.Type == zk.EventNodeCreated) == holding || (e.Err == zk.ErrSessionExpired) != holding {
				t.Errorf("the watch gets %v", e)
			}
		})
	}
}
