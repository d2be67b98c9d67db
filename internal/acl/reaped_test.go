package acl_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// reaper holds creates of a client back, each until the server has removed a container that has no child yet, if there
// is one. Then it lets six through, which is enough for parents and their child, and begins anew.
type reaper struct {
	*env
	hold          int // how many creates are held back in a row
	held, through int
	reaped        atomic.Int64
}

// attack makes the reaper hold back all later creates of a network's client.
func (r *reaper) attack(network *suite.Network) {
	for _, op := range []jute.Op{jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, jute.OpMulti} {
		var again func()
		again = func() {
			r.wait()
			network.On(op, suite.Late, again)
		}
		network.On(op, suite.Late, again)
	}
}

// wait waits until the server has removed a container, if there may be one. The client writes one request at a
// time, so it is not called twice at a time.
func (r *reaper) wait() {
	if r.held == r.hold {
		if r.through++; r.through == 6 {
			r.held, r.through = 0, 0
		}
		return
	}
	before := r.unused(r.top)
	for range 8 * len(before) {
		if len(r.unused(r.top)) < len(before) {
			r.held++
			r.reaped.Add(1)
			return
		}
		<-time.After(suite.Tick / 2)
	}
}

// unused returns the nodes at the path and below it that never had a child, and are not ephemeral: containers, and
// others, because a client cannot tell them apart.
func (r *reaper) unused(path string) (found []string) {
	var stat framework.Stat
	names, err := r.operator.GetChildren().StoringStatIn(&stat).ForPath(r.Context(), path)
	switch {
	case err != nil:
		if !errors.Is(err, framework.ErrNoNode) && r.Context().Err() == nil {
			r.Error(err)
		}
	case stat.Cversion == 0 && stat.EphemeralOwner == 0:
		found = append(found, path)
	}
	for _, name := range names {
		found = append(found, r.unused(paths.Make(path, name))...)
	}
	return found
}

// A server may remove a container before its first child is there: those that are told to, since ZooKeeper 3.6,
// and all from 3.10 on, after five minutes (ZOOKEEPER-4915). Every recipe makes its parents again then.
func TestContainersReapedUnused(t *testing.T) {
	for _, recipe := range recipes() {
		t.Run(recipe.name, func(t *testing.T) {
			t.Parallel()
			suite.EachReapingUnused(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, nil)
				var network *suite.Network
				e.client, network = b.Client(t)
				r := &reaper{env: e, hold: 1} // a server in real time also removes some that are not held back
				if b.Virtual {
					r.hold = 2
				}
				r.attack(network)
				recipe.run(e)
				if b.Virtual { // a real server may remove a directory that is empty again before somebody looks
					recipe.want(e, framework.OpenACLUnsafe(), nil)
				}
				if r.reaped.Load() < int64(r.hold) {
					t.Errorf("containers were removed %d times", r.reaped.Load())
				}
			})
		})
	}
}
