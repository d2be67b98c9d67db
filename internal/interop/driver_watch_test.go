package interop_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/internal/suite"
)

// A watch of go-zookeeper's client hears of one change.
func TestDriverWatches(t *testing.T) {
	t.Parallel()
	onServers(t, func(s *server) {
		d := s.newDriver()
		d.create(s.root, "", 0)
		node := s.root + "/n"
		_, _, created, err := d.ExistsW(node)
		if err != nil {
			s.t.Fatal(err)
		}
		_, _, children, err := d.ChildrenW(s.root)
		if err != nil {
			s.t.Fatal(err)
		}
		d.create(node, "", 0)
		d.wantEvent(created, zk.EventNodeCreated, node)
		d.wantEvent(children, zk.EventNodeChildrenChanged, s.root)
		_, _, changed, err := d.GetW(node)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := d.Set(node, nil, -1); err != nil {
			s.t.Fatal(err)
		}
		d.wantEvent(changed, zk.EventNodeDataChanged, node)
		_, _, deleted, err := d.GetW(node)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := d.Delete(node, -1); err != nil {
			s.t.Fatal(err)
		}
		d.wantEvent(deleted, zk.EventNodeDeleted, node)
	})
}

// A session goes on after an outage, with its watches: those that have missed something
// hear of it, the others are put back.
func TestDriverOutage(t *testing.T) {
	t.Parallel()
	onServers(t, func(s *server) {
		d := s.newDriver()
		d.create(s.root, "", 0)
		d.create(s.root+"/e", "", zk.FlagEphemeral)
		var missed, kept []<-chan zk.Event
		for _, name := range []string{"missed", "kept"} {
			d.create(s.root+"/"+name, "", 0)
			_, _, data, err := d.GetW(s.root + "/" + name)
			if err != nil {
				s.t.Fatal(err)
			}
			_, _, children, err := d.ChildrenW(s.root + "/" + name)
			if err != nil {
				s.t.Fatal(err)
			}
			_, _, exists, err := d.ExistsW(s.root + "/" + name + "-new")
			if err != nil {
				s.t.Fatal(err)
			}
			watches := &missed
			if name == "kept" {
				watches = &kept
			}
			*watches = append(*watches, data, children, exists)
		}
		change := func(name string) {
			s.change("set", s.root+"/"+name)
			s.change("create", s.root+"/"+name+"/child")
			s.change("create", s.root+"/"+name+"-new")
		}
		wantEvents := func(watches []<-chan zk.Event, name string) {
			d.wantEvent(watches[0], zk.EventNodeDataChanged, s.root+"/"+name)
			d.wantEvent(watches[1], zk.EventNodeChildrenChanged, s.root+"/"+name)
			d.wantEvent(watches[2], zk.EventNodeCreated, s.root+"/"+name+"-new")
		}

		id := d.SessionID()
		s.relay.outage(func() { change("missed") })
		wantEvents(missed, "missed") // before any request, which would race with the driver's own
		if d.SessionID() != id {
			s.t.Errorf("the session is %x, it was %x", d.SessionID(), id)
		}
		if exists, _, err := d.Exists(s.root + "/e"); err != nil || !exists {
			s.t.Errorf("the ephemeral node is there: %v, %v", exists, err)
		}
		for _, watch := range kept {
			d.wantNoEvent(watch)
		}
		change("kept")
		wantEvents(kept, "kept")
	})
}

// A client whose session has ended hears so, its watches too, and it gets another one.
func TestDriverExpiry(t *testing.T) {
	t.Parallel()
	onServers(t, func(s *server) {
		d := s.newDriver()
		d.create(s.root, "", 0)
		d.create(s.root+"/e", "", zk.FlagEphemeral)
		_, _, watch, err := d.GetW(s.root)
		if err != nil {
			s.t.Fatal(err)
		}
		id := d.SessionID()
		s.relay.outage(func() {
			if s.embedded != nil {
				s.embedded.ExpireSession(id)
			}
			suite.Eventually(s.t, "the end of the session", func() bool {
				exists, err := s.observer.CheckExists().ForPath(s.t.Context(), s.root+"/e")
				return err == nil && !exists
			})
		})
		d.await(zk.StateExpired)
		if e := <-watch; !errors.Is(e.Err, zk.ErrSessionExpired) {
			s.t.Errorf("the watch hears %v", e)
		}
		d.await(zk.StateHasSession)
		if d.SessionID() == id {
			s.t.Error("it has the same session")
		}
		d.create(s.root+"/e", "", zk.FlagEphemeral)
	})
}

// A read and a write under go-zookeeper's lock are one step.
func TestDriverLock(t *testing.T) {
	t.Parallel()
	const clients, rounds = 4, 10
	onServers(t, func(s *server) {
		var wg sync.WaitGroup
		first := s.newDriver()
		first.create(s.root, "", 0)
		count := 0 // a data race if the lock does not exclude
		for range clients {
			d := s.newDriver()
			lock := zk.NewLock(d.Conn, s.root+"/lock", openACL)
			wg.Go(func() {
				for range rounds {
					if err := lock.Lock(); err != nil {
						s.t.Error(err)
						return
					}
					count++
					if err := lock.Unlock(); err != nil {
						s.t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if count != clients*rounds {
			s.t.Errorf("%d rounds, want %d", count, clients*rounds)
		}
		nodes, stat, err := first.Children(s.root + "/lock")
		if diff := cmp.Diff([]string{}, nodes); diff != "" || err != nil || stat.Cversion != 2*clients*rounds {
			s.t.Errorf("the lock has the nodes %v, was changed %d times, %v", nodes, stat.Cversion, err)
		}
	})
}
