package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestEphemeralsRefused: above three quarters no ephemeral node is created; everything else is.
func TestEphemeralsRefused(t *testing.T) {
	virtual(t, func(t *fixture) {
		const limit = 8000 // 80 nodes of 100 bytes
		path := func(i int) string { return fmt.Sprintf("/%095d", i) }
		t.limited(limit)
		for i := range 39 {
			t.made(path(i), ephemeral)
		}
		if events := t.told(zkconn.EphemeralsLarge); len(events) != 0 {
			t.Errorf("below half of the limit: %v", events)
		}
		for i := range 21 {
			t.made(path(39+i), ephemeral)
		}
		if events := t.told(zkconn.EphemeralsLarge); len(events) != 1 || events[0].Bytes != limit/2 || events[0].Limit != limit {
			t.Errorf("at half of the limit: %v", events)
		}
		refused := func(call *zkconn.Call) {
			t.Helper()
			err := t.conn.Do(t.Context(), 0, call)
			t.want(err, zkconn.ErrTooLarge)
			full, ok := errors.AsType[*zkconn.EphemeralsTooLarge](err)
			if !ok || full.Limit != limit || full.Size <= limit*3/4 || framework.MaybeApplied(err) || !strings.Contains(err.Error(), "ZOOKEEPER-4306") {
				t.Errorf("error %v", err)
			}
		}
		one, _ := create(path(60), ephemeral)
		refused(one)
		refused(zkconn.Multi(createOp("/transaction", 0), createOp("/a", ephemeral)))
		refused(zkconn.Multi(createOp("/b-", ephemeral|sequential), zkconn.DeleteOp("/b", -1)))
		t.wantCounted("nothing was sent")
		if _, ok := t.server.Get("/transaction"); ok {
			t.Error("a transaction was sent that was refused")
		}
		t.made("/persistent", 0)
		t.made("/persistent-", sequential)
		t.do(zkconn.Multi(zkconn.DeleteOp(path(0), -1), createOp("/short", ephemeral))) // it takes less than before
		t.do(remove("/persistent"), remove("/short"), remove(path(1)))
		t.made(path(0), ephemeral)
		t.made(path(1), ephemeral)
		refused(one)
		for i := range 30 {
			t.do(remove(path(i)))
		}
		for i := range 10 {
			t.made(path(i), ephemeral)
		}
		if events := t.told(zkconn.EphemeralsLarge); len(events) != 1 {
			t.Errorf("at half of the limit again: %v", events)
		}
		t.wantCounted("at the end")
	})
}

// TestEphemeralsOfManyCallers: calls at the same time do not pass the limit together.
func TestEphemeralsOfManyCallers(t *testing.T) {
	for name, inFlight := range map[string]int{"at once": 0, "some at a time": 3} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.open(func(cfg *zkconn.Config) { cfg.MaxBuffer, cfg.MaxInFlight = 8000, inFlight })
				t.connected()
				resume := t.server.Pause()
				const callers = 100
				errs := make(chan error, 2*callers)
				for i := range callers {
					call, _ := create(fmt.Sprintf("/%095d", i), ephemeral)
					go func() { errs <- t.conn.Do(t.Context(), 0, call) }()
				}
				withdrawn, cancel := context.WithCancel(t.Context())
				synctest.Wait()
				for i := range callers {
					call, _ := create(fmt.Sprintf("/late-%090d", i), ephemeral)
					go func() { errs <- t.conn.Do(withdrawn, 0, call) }()
				}
				synctest.Wait()
				cancel()
				synctest.Wait()
				resume()
				served := 0
				for range 2 * callers {
					if err := <-errs; err == nil {
						served++
					} else if !errors.Is(err, zkconn.ErrTooLarge) && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
				if served != 60 {
					t.Errorf("%d nodes were created, want 60", served)
				}
				t.wantCounted("behind all")
				t.made("/x", 0)
			})
		})
	}
}

// TestEphemeralsDeletedByOthers: what others have deleted is found ahead of a warning and of a refusal.
func TestEphemeralsDeletedByOthers(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(8000)
		other := t.conn
		t.limited(8000)
		path := func(i int) string { return fmt.Sprintf("/%095d", i) }
		drop := func(from, to int) {
			for i := range to - from {
				t.ask(other, remove(path(from+i)))
			}
		}
		for i := range 39 {
			t.made(path(i), ephemeral)
		}
		drop(0, 30)
		for i := range 51 {
			t.made(path(39+i), ephemeral)
		}
		if events := t.told(zkconn.EphemeralsLarge); len(events) != 1 {
			t.Errorf("%v, want one at half of the limit", events)
		}
		t.wantCounted("at three quarters")
		drop(30, 60)
		time.Sleep(2 * time.Second) // of virtual time: the nodes were listed a moment ago
		t.made(path(90), ephemeral)
		t.wantCounted("behind the create that would have been refused")
	})
}

// TestEphemeralsAreManyAndShort: of many nodes the deletes are not all recognized, and the count is corrected in time.
func TestEphemeralsAreManyAndShort(t *testing.T) {
	virtual(t, func(t *fixture) {
		const limit = 160_000 // 1,600 nodes of 100 bytes
		t.limited(limit)
		path := func(i int) string { return fmt.Sprintf("/%095d", i) }
		for i := range 5000 {
			t.made(path(i), ephemeral)
			if i >= 400 {
				t.do(remove(path(i - 400)))
			}
		}
		if count, size := t.counted(), t.listed(); size != 40_000 || count < size || count > limit/2 {
			t.Errorf("counted %d bytes, and there are %d", count, size)
		}
		if events := t.told(zkconn.EphemeralsLarge); len(events) != 0 {
			t.Errorf("told of %v", events)
		}
	})
}

// TestEphemeralsAreNotListed: servers that do not list the nodes have no limit, or none that is known. Whether they do is
// found out anew in another session.
func TestEphemeralsAreNotListed(t *testing.T) {
	for name, test := range map[string]struct {
		fate  curatortest.Fate
		asked int
	}{
		"refused, by one older than 3.6": {curatortest.Fail(framework.ErrUnimplemented), 1},
		"cut, by another server":         {curatortest.CutBefore(), 2},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.limited(8000)
				hit := t.server.Inject(curatortest.Rule{Op: "getEphemerals", Path: "/", Times: test.asked, Do: test.fate})
				for i := range 100 {
					call, _ := create(fmt.Sprintf("/%095d", i), ephemeral)
					if err := t.conn.Do(t.Context(), 0, call); err != nil && !errors.Is(err, zkconn.ErrConnectionLoss) {
						t.Fatalf("create %d: %v", i, err)
					}
				}
				events := t.told(zkconn.EphemeralsLarge)
				if len(events) != 1 || events[0].Err == nil || !hit() {
					t.Errorf("told of %v; asked as often as expected: %t", events, hit())
				}
				if stats := t.conn.Stats(); stats.EphemeralLimit != 0 || stats.Ephemerals < t.listed() {
					t.Errorf("%+v", stats)
				}
				t.server.ExpireSession(t.connected())
				synctest.Wait()
				for i := range 60 {
					t.made(numbered(i), ephemeral)
				}
				one, _ := create(numbered(60), ephemeral)
				t.want(t.conn.Do(t.Context(), 0, one), zkconn.ErrTooLarge)
			})
		})
	}
}

// TestEphemeralsListedForOthers: lost lists of some nodes say nothing about the list of all.
func TestEphemeralsListedForOthers(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(8000)
		t.server.Inject(curatortest.Rule{Op: "getEphemerals", Path: "/x", Times: 3, Do: curatortest.CutBefore()})
		for range 3 {
			t.want(t.conn.Do(t.Context(), 0, zkconn.Ephemerals("/x")), framework.ErrConnectionLoss)
		}
		t.made("/x", ephemeral)
		t.made("/y", ephemeral)
		call := zkconn.Ephemerals("/x")
		t.do(call)
		if names := call.Names(); len(names) != 1 || names[0] != "/x" {
			t.Errorf("listed %q", names)
		}
		if stats := t.conn.Stats(); stats.EphemeralLimit != 8000 {
			t.Errorf("%+v", stats)
		}
	})
}

// TestEphemeralsThrottled: a server that does not list the nodes just now is asked again.
func TestEphemeralsThrottled(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(8000)
		t.server.Inject(curatortest.Rule{Op: "getEphemerals", Path: "/", Times: 2, Do: curatortest.Fail(zkconn.ErrThrottled)})
		for i := range 60 {
			t.made(fmt.Sprintf("/%095d", i), ephemeral)
		}
		call, _ := create("/x", ephemeral)
		t.want(t.conn.Do(t.Context(), 0, call), zkconn.ErrTooLarge)
		if events := t.told(zkconn.EphemeralsLarge); len(events) != 1 || events[0].Err != nil {
			t.Errorf("told of %v", events)
		}
	})
}

// numbered returns the path of a node that takes 100 bytes.
func numbered(i int) string { return fmt.Sprintf("/%095d", i) }

// miscounted opens a connection that counts as many nodes as it may create, of which another client has deleted half.
func (t *fixture) miscounted(change func(*zkconn.Config)) {
	t.Helper()
	t.limited(8000)
	other := t.conn
	t.open(func(cfg *zkconn.Config) {
		cfg.MaxBuffer = 8000
		if change != nil {
			change(cfg)
		}
	})
	t.connected()
	for i := range 60 {
		t.made(numbered(i), ephemeral)
	}
	synctest.Wait() // the nodes are listed with the last one
	for i := range 30 {
		t.ask(other, remove(numbered(i)))
	}
	time.Sleep(2 * time.Second) // of virtual time: the nodes were listed a moment ago
}

// TestEphemeralsAreListedAgain: a list that fails refuses no create. The nodes are listed again.
func TestEphemeralsAreListedAgain(t *testing.T) {
	for name, fate := range map[string]curatortest.Fate{
		"throttled": curatortest.Fail(zkconn.ErrThrottled), "cut": curatortest.CutBefore(),
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.miscounted(nil)
				hit := t.server.Inject(curatortest.Rule{Op: "getEphemerals", Path: "/", Do: fate})
				t.made(numbered(60), ephemeral)
				if !hit() {
					t.Error("the nodes were not listed ahead of the create")
				}
				t.wantCounted("behind the create that would have been refused")
			})
		})
	}
}

// TestEphemeralsRefusedAtGate: of calls that are refused when their turn comes, and sent again behind a list of the nodes,
// the watches are set.
func TestEphemeralsRefusedAtGate(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.miscounted(func(cfg *zkconn.Config) { cfg.MaxInFlight = 1 })
		resume := t.server.Pause()
		errs := make(chan error, 2)
		go func() { errs <- t.conn.Do(t.Context(), 0, exists("/")) }()
		synctest.Wait()
		var told []zkconn.EventType
		made, _ := create(numbered(60), ephemeral)
		read := zkconn.Exists("/w", zkconn.NewWatch("/w", zkconn.WatchData, func(e zkconn.WatchEvent) { told = append(told, e.Type) }))
		go func() { errs <- t.conn.Do(t.Context(), 0, made, read) }()
		synctest.Wait()
		resume()
		for range 2 {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		if made.Err != nil {
			t.Fatal(made.Err)
		}
		t.want(read.Err, zkconn.ErrNoNode)
		t.made("/w", 0)
		synctest.Wait()
		if !slices.Equal(told, []zkconn.EventType{zkconn.NodeCreated}) {
			t.Errorf("the watch was told %v", told)
		}
	})
}

// TestEphemeralsRefusalOvertakes: a server before 3.6 refuses to list the nodes ahead of its answers to older requests.
func TestEphemeralsRefusalOvertakes(t *testing.T) {
	virtual(t, func(t *fixture) {
		path := numbered(0)
		peer := &script{serve: func(_ int, c net.Conn) {
			c.Write(welcome())
			var held []byte // the answer to exists
			for {
				xid, op, err := request(c)
				if err != nil {
					return
				}
				reply := success(xid, op)
				header := jute.ReplyHeader{Xid: xid, Zxid: 1}
				switch op {
				case jute.OpCreate2:
					reply = frame((&jute.Create2Response{Path: path}).Append(header.Append(nil)))
				case jute.OpExists:
					held, reply = reply, nil
				case jute.OpGetEphemerals:
					header.Err = jute.CodeUnimplemented
					reply = append(frame(header.Append(nil)), held...)
				}
				c.Write(reply)
			}
		}}
		t.open(func(cfg *zkconn.Config) { cfg.Dial, cfg.MaxBuffer = peer.dial, 200 })
		made, _ := create(path, ephemeral)
		t.do(made, exists("/"))
		if events := t.told(zkconn.EphemeralsLarge); len(events) != 1 || !errors.Is(events[0].Err, zkconn.ErrUnimplemented) {
			t.Errorf("told of %v", events)
		}
		if dials := peer.dials.Load(); dials != 1 {
			t.Errorf("%d connections", dials)
		}
	})
}

// TestEphemeralsSilence: a server that does not answer in time has not closed the connection because of the list.
func TestEphemeralsSilence(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.limited(8000)
		session := t.connected()
		hit := t.server.Inject(curatortest.Rule{Op: "getEphemerals", Path: "/", Times: 2, Do: curatortest.Delay(timeout * 3 / 4)})
		for i := range 42 {
			t.made(numbered(i), ephemeral)
			if i >= 39 {
				time.Sleep(2 * timeout)
			}
		}
		if _, states := t.took(); len(states) != 5 || !hit() || t.connected() != session {
			t.Errorf("states %v; asked as often as expected: %t", states, hit())
		}
		if stats := t.conn.Stats(); stats.EphemeralLimit != 8000 {
			t.Errorf("%+v", stats)
		}
	})
}
