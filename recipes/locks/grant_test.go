package locks

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// interposed is a client's inside in which something happens just when the hook on the
// session has been set: at the last moment at which a grant can be refused.
type interposed struct {
	recipeapi.Client
	meanwhile func()
	deaf      bool // the hook hears of nothing
}

func (i interposed) OnLoss(fn func(recipeapi.Loss)) func() {
	if i.deaf {
		fn = func(recipeapi.Loss) {}
	}
	remove := i.Client.OnLoss(fn)
	i.meanwhile()
	return remove
}

// grantCase is what happens in that moment, and whether the lock is granted all the same.
type grantCase struct {
	opts      []framework.Option
	stranger  bool // the node is another session's
	meanwhile func(s *curatortest.Server, c *framework.Client)
	hears     bool // the hook does; where it does not, what is looked at must do
	want      error
}

const grantTimeout = 4 * time.Second

// TestGrantLooksAtEverything has each condition of a grant fail alone, in the moment
// between the look at the queue and the grant.
func TestGrantLooksAtEverything(t *testing.T) {
	sessionPolicy := []framework.Option{framework.WithErrorPolicy(state.SessionErrorPolicy())}
	suspendedFor := func(d time.Duration) func(s *curatortest.Server, c *framework.Client) {
		return func(s *curatortest.Server, _ *framework.Client) {
			s.Refuse()
			s.Disconnect()
			synctest.Wait()
			time.Sleep(d)
		}
	}
	for name, c := range map[string]grantCase{
		"nothing happens": {hears: true},
		"another owner":   {stranger: true, hears: true, want: errStartOver},
		"session over": {want: errStartOver, meanwhile: func(s *curatortest.Server, c *framework.Client) {
			s.ExpireSession(c.SessionID())
			synctest.Wait()
			time.Sleep(time.Second)
		}},
		"deadline not passed": {opts: sessionPolicy, meanwhile: suspendedFor(grantTimeout/4 - 1)},
		"deadline passed":     {opts: sessionPolicy, meanwhile: suspendedFor(grantTimeout / 4), want: errInDoubt},
		"an error state":      {meanwhile: suspendedFor(0), want: errInDoubt},
		"an error state that has passed": {hears: true, want: errInDoubt, meanwhile: func(s *curatortest.Server, _ *framework.Client) {
			s.Disconnect()
			synctest.Wait()
			time.Sleep(time.Second)
		}},
		"a disconnect, unheard": {meanwhile: func(s *curatortest.Server, _ *framework.Client) {
			s.Disconnect()
			synctest.Wait()
			time.Sleep(time.Second)
		}},
		"closed": {want: framework.ErrClosed, meanwhile: func(_ *curatortest.Server, c *framework.Client) {
			_ = c.Close(context.Background()) // the node goes with the session
		}},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, c.try) })
	}
}

func (c grantCase) try(t *testing.T) {
	server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond))
	client := server.Client(t, append(c.opts, framework.WithSessionTimeout(grantTimeout))...)
	in, err := newInternals(client, "/lock", config{releaseTimeout: time.Second}, mutexRules(StandardLockInternalsDriver{}))
	if err != nil {
		t.Fatal(err)
	}
	node, _, err := in.inside.CreateAndList(t.Context(), in.builder(nil), "/lock/"+lockName, true)
	if err != nil {
		t.Fatal(err)
	}
	if c.stranger {
		node.Owner++
	}
	inside := in.inside
	in.inside = interposed{Client: inside, deaf: !c.hears, meanwhile: func() {
		if c.meanwhile != nil {
			c.meanwhile(server, client)
		}
	}}
	hold, err := (&contender{acquisition: acquisition{in: in}, wait: true}).grant(node)
	if !errors.Is(err, c.want) || (hold != nil) != (c.want == nil) {
		t.Errorf("granted %t, error %v, want %v", hold != nil, err, c.want)
	}
	if hold != nil {
		hold.over.Store(true)
		hold.forget()
	}
	if n := inside.LossHooks(); n != 0 {
		t.Errorf("%d hooks are left", n)
	}
	_ = client.Close(t.Context()) // what has become of its session is not the point
}

// Who was asked to let go while it waited, and has its node read before there is a lease, gets
// one all the same: it has ended, or the user's function is called with it.
func TestAskedBeforeTheLease(t *testing.T) {
	for _, listens := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			client := curatortest.Start(t, curatortest.Virtual()).Client(t)
			told := make(chan *Lease, 1)
			cfg := config{releaseTimeout: time.Second, revocable: true, nodeData: revokeMessage, nodeDataGiven: true}
			if listens {
				cfg.onRevoke = func(_ context.Context, lease *Lease) { told <- lease }
			}
			in, err := newInternals(client, "/lock", cfg, mutexRules(StandardLockInternalsDriver{}))
			if err != nil {
				t.Fatal(err)
			}
			node, _, err := in.inside.CreateAndList(t.Context(), in.builder(nil), "/lock/"+lockName, true)
			if err != nil {
				t.Fatal(err)
			}
			hold, err := (&contender{acquisition: acquisition{in: in}, wait: true}).grant(node)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * watchLater)
			synctest.Wait() // the node has been read
			lease := hold.newLease(t.Context(), nil, nil)
			if lease == nil {
				t.Fatal("no lease: the waiter would begin anew")
			}
			synctest.Wait()
			var loss *LossError
			if revoked := errors.As(lease.Err(), &loss) && loss.Reason == LossRevoked; revoked == listens {
				t.Errorf("a lease with a function: %t, ended with %v", listens, lease.Err())
			}
			if listens && <-told != lease {
				t.Error("told of another lease")
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A hold of a seat that was lost before there was a lease: the contender must go on with a node
// of its own, and not be let in by the one that is being removed.
func TestLostSeatIsNotTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		in, err := newInternals(client, "/lock", config{releaseTimeout: time.Second, handover: 5}, mutexRules(StandardLockInternalsDriver{}))
		if err != nil {
			t.Fatal(err)
		}
		node, _, err := in.inside.CreateAndList(t.Context(), in.builder(nil), "/lock/"+lockName, true)
		if err != nil {
			t.Fatal(err)
		}
		c := &contender{acquisition: acquisition{in: in}, wait: true}
		ctx := t.Context()
		lost, err := c.sit(ctx, seat{node: node, waited: true, times: 1})
		if err != nil {
			t.Fatal(err)
		}
		// As takeTurn goes on.
		lost.lose(LossSuspended, nil)
		if lease := lost.newLease(ctx, nil, nil); lease != nil {
			t.Fatal("a lease of what is lost")
		}
		server.Inject(curatortest.Rule{Op: "delete", Times: 3, Do: curatortest.Fail(framework.ErrConnectionLoss)})
		lost.remove(ctx)
		c.settle(ctx, lost.leaving())
		again, err := c.sit(ctx, seat{})
		if err != nil {
			t.Fatal(err)
		}
		if again.node.Path == node.Path {
			t.Errorf("let in by %s, which is being removed", node.Path)
		}
		if again.times != 0 {
			t.Errorf("times %d", again.times)
		}
		if err := again.newLease(ctx, nil, nil).Release(ctx); err != nil {
			t.Error(err)
		}
	})
}
