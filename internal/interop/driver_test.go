package interop_test

import (
	"errors"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/suite"
)

// driver is go-zookeeper's own client, without our session layer.
type driver struct {
	*zk.Conn
	t      *testing.T
	states <-chan zk.State
}

type silence struct{}

func (silence) Printf(string, ...any) {}

// newDriver returns a client with a session.
func (s *server) newDriver() *driver {
	s.t.Helper()
	states := make(chan zk.State, 100)
	conn, _, err := zk.Connect([]string{s.relay.Address()}, suite.LongSession, zk.WithLogger(silence{}),
		zk.WithEventCallback(func(e zk.Event) {
			if e.Type == zk.EventSession {
				states <- e.State
			}
		}))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(conn.Close)
	d := &driver{Conn: conn, t: s.t, states: states}
	d.await(zk.StateHasSession)
	return d
}

// await waits until the client gets into a state.
func (d *driver) await(state zk.State) {
	d.t.Helper()
	deadline := time.After(foreignTimeout)
	for {
		select {
		case s := <-d.states:
			if s == state {
				return
			}
		case <-deadline:
			d.t.Fatalf("the client does not get into the state %v", state)
		}
	}
}

var openACL = zk.WorldACL(zk.PermAll)

// create makes a node and returns its path.
func (d *driver) create(path, data string, flags int32) string {
	d.t.Helper()
	created, err := d.Create(path, []byte(data), flags, openACL)
	if err != nil {
		d.t.Fatal(err)
	}
	return created
}

// wantError fails if err is another error.
func (d *driver) wantError(what string, err, want error) {
	d.t.Helper()
	if !errors.Is(err, want) {
		d.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// wantEvent waits for a watch's event.
func (d *driver) wantEvent(watch <-chan zk.Event, kind zk.EventType, path string) {
	d.t.Helper()
	select {
	case e := <-watch:
		if e.Type != kind || e.Path != path || e.Err != nil {
			d.t.Errorf("event %v of %s, %v; want %v of %s", e.Type, e.Path, e.Err, kind, path)
		}
	case <-time.After(foreignTimeout):
		d.t.Fatalf("no event: want %v of %s", kind, path)
	}
}

func (d *driver) wantNoEvent(watch <-chan zk.Event) {
	d.t.Helper()
	select {
	case e := <-watch:
		d.t.Errorf("an event that nothing has caused: %v", e)
	default:
	}
}

func TestDriverNodes(t *testing.T) {
	t.Parallel()
	onServers(t, func(s *server) {
		d := s.newDriver()
		d.create(s.root, "root", 0)
		first := d.create(s.root+"/n-", "", zk.FlagSequence)
		second := d.create(s.root+"/n-", "", zk.FlagSequence|zk.FlagEphemeral)
		if first != s.root+"/n-0000000000" || second != s.root+"/n-0000000001" {
			s.t.Errorf("sequential nodes %s and %s", first, second)
		}
		_, stat, err := d.Get(second)
		if err != nil || stat.EphemeralOwner != d.SessionID() {
			s.t.Errorf("the owner of the ephemeral node is %x, that of the session %x, %v", stat.EphemeralOwner, d.SessionID(), err)
		}
		if _, err := d.CreateContainer(s.root+"/container", nil, zk.FlagContainer, openACL); err != nil {
			s.t.Error(err)
		}
		if _, err := d.CreateTTL(s.root+"/ttl", nil, zk.FlagTTL, openACL, time.Hour); err != nil {
			s.t.Error(err)
		}
		protected, err := d.CreateProtectedEphemeralSequential(s.root+"/p-", nil, openACL)
		if err != nil || len(path.Base(protected)) != len("_c_-p-0000000004")+32 {
			s.t.Errorf("protected node %s, %v", protected, err)
		}

		_, err = d.Create(first, nil, 0, openACL)
		d.wantError("create again", err, zk.ErrNodeExists)
		_, err = d.Create(s.root+"/none/x", nil, 0, openACL)
		d.wantError("create without a parent", err, zk.ErrNoNode)
		_, err = d.Create(second+"/x", nil, 0, openACL)
		d.wantError("create below an ephemeral node", err, zk.ErrNoChildrenForEphemerals)
		_, err = d.Set(first, nil, 7)
		d.wantError("set another version", err, zk.ErrBadVersion)
		d.wantError("delete a parent", d.Delete(s.root, -1), zk.ErrNotEmpty)

		if stat, err = d.Set(s.root, []byte("new"), 0); err != nil || stat.Version != 1 || stat.NumChildren != 5 {
			s.t.Errorf("after a set: %+v, %v", stat, err)
		}
		if synced, err := d.Sync(s.root); err != nil || synced != s.root {
			s.t.Errorf("sync: %q, %v", synced, err)
		}
		_, err = d.IncrementalReconfig(nil, []string{"1"}, -1)
		d.wantError("reconfig", err, zk.ErrReconfigDisabled)
	})
}

func TestDriverMulti(t *testing.T) {
	t.Parallel()
	onServers(t, func(s *server) {
		d := s.newDriver()
		d.create(s.root, "root", 0)
		responses, err := d.Multi(
			&zk.CreateRequest{Path: s.root + "/n-", Acl: openACL, Flags: zk.FlagSequence},
			&zk.SetDataRequest{Path: s.root, Data: []byte("new"), Version: 0},
			&zk.CheckVersionRequest{Path: s.root, Version: 1},
			&zk.DeleteRequest{Path: s.root + "/n-0000000000", Version: -1},
		)
		if err != nil || len(responses) != 4 {
			s.t.Fatalf("responses %v, %v", responses, err)
		}
		if r := responses[0]; r.String != s.root+"/n-0000000000" {
			s.t.Errorf("created %q", r.String)
		}
		if r := responses[1]; r.Stat == nil || r.Stat.Version != 1 {
			s.t.Errorf("set: %+v", r.Stat)
		}
		responses, err = d.Multi(
			&zk.SetDataRequest{Path: s.root, Version: -1},
			&zk.CheckVersionRequest{Path: s.root, Version: 77},
			&zk.DeleteRequest{Path: s.root, Version: -1},
		)
		d.wantError("a multi with a wrong check", err, zk.ErrBadVersion)
		d.wantError("the operation before it", responses[0].Error, nil)
		d.wantError("the check", responses[1].Error, zk.ErrBadVersion)
		if err := responses[2].Error; err == nil || err.Error() != "unknown error: -2" {
			s.t.Errorf("the operation after it: %v", err)
		}
		if data, stat, err := d.Get(s.root); err != nil || string(data) != "new" || stat.Version != 1 {
			s.t.Errorf("after a multi that failed: %q, %+v, %v", data, stat, err)
		}
	})
}

func TestDriverACL(t *testing.T) {
	t.Parallel()
	onServers(t, func(s *server) {
		owner, other := s.newDriver(), s.newDriver()
		if err := owner.AddAuth("digest", []byte("me:secret")); err != nil {
			s.t.Fatal(err)
		}
		if _, err := owner.Create(s.root, nil, 0, zk.AuthACL(zk.PermAll)); err != nil {
			s.t.Fatal(err)
		}
		mine := zk.DigestACL(zk.PermAll, "me", "secret")
		if acl, _, err := owner.GetACL(s.root); err != nil || !slices.Equal(acl, mine) {
			s.t.Errorf("the ACL is %v, want %v, %v", acl, mine, err)
		}
		_, _, err := other.Get(s.root)
		other.wantError("get of another's", err, zk.ErrNoAuth)
		_, err = other.SetACL(s.root, openACL, -1)
		other.wantError("set the ACL of another's", err, zk.ErrNoAuth)
		_, err = owner.SetACL(s.root, openACL, 5)
		owner.wantError("set another version", err, zk.ErrBadVersion)
		_, err = owner.SetACL(s.root, []zk.ACL{{Perms: zk.PermAll, Scheme: "digest", ID: "nonsense"}}, -1)
		owner.wantError("set what is no ACL", err, zk.ErrInvalidACL)
		readable := slices.Concat(mine, zk.WorldACL(zk.PermRead))
		if stat, err := owner.SetACL(s.root, readable, 0); err != nil || stat.Aversion != 1 {
			s.t.Errorf("set the ACL: %+v, %v", stat, err)
		}
		masked := append([]zk.ACL{{Perms: zk.PermAll, Scheme: "digest", ID: "me:x"}}, readable[1])
		if acl, _, err := other.GetACL(s.root); err != nil || !slices.Equal(acl, masked) {
			s.t.Errorf("to others the ACL is %v, want %v, %v", acl, masked, err)
		}
		s.relay.outage(func() {}) // the client proves again who it is
		owner.await(zk.StateHasSession)
		if _, err := owner.Set(s.root, []byte("mine"), -1); err != nil {
			s.t.Error(err)
		}
	})
}
