package discovery_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/nodes"
)

// some is where tests run whose server matters.
const some = suite.InVirtualTime | suite.OnRealServer

// The states of an instance, and what may happen in each. Every cell names its test. Those of
// caches are in TestCacheFaults.
//
//	                registering        registered      updating         unregistering
//	not sent        RegisterCutBefore  -               UpdateCutBefore  UnregisterCutBefore
//	reply lost      RegisterCutAfter   -               UpdateCutAfter   UnregisterCutAfter
//	suspended       RegisterSuspended  Reconnect       UpdateSuspended  UnregisterSuspended
//	lost            RegisterExpired    Expired         UpdateExpired    UnregisterExpired
//	lagging         RegisterLagging    Lagging         UpdateLagging    UnregisterLagging
//	node deleted    RegisterDeleted    Deleted         UpdateDeleted    UnregisterDeleted
//	parent deleted  RegisterDeleted    ServiceDeleted  UpdateDeleted    UnregisterDeleted
//	ctx ends        RegisterEnds       StartEnds       UpdateEnds       UnregisterSuspended
//	Close           RegisterClosed     Closed          UpdateClosed     UnregisterClosed
//	Close, ended    RegisterClosed     ClosedEnded     UpdateClosed     UnregisterClosed
//	client closed   RegisterNoClient   NoClient        UpdateNoClient   UnregisterNoClient
var cells = []struct {
	name string
	on   suite.Backends
	test func(f *fixture)
}{
	{"RegisterCutBefore", suite.InVirtualTime, func(f *fixture) { f.registerAt(suite.CutBefore, nil) }},
	{"RegisterCutAfter", some, func(f *fixture) { f.registerAt(suite.CutAfter, nil) }},
	{"RegisterExpired", some, func(f *fixture) { f.registerAt(suite.CutAfter, func() { f.network.Expire(f.t) }) }},
	{"RegisterLagging", suite.InVirtualTime, func(f *fixture) { f.registerAt(suite.CutAfter, f.network.Lag) }},
	{"RegisterDeleted", suite.InVirtualTime, func(f *fixture) { f.registerAt(suite.CutAfter, f.deleteServiceMeanwhile) }},
	{"RegisterSuspended", suite.InVirtualTime, func(f *fixture) {
		f.start()
		time.AfterFunc(suite.SessionTimeout/2, f.network.Isolate())
		f.register(of("a", "x"))
		f.untilOwned("a", "x")
		f.ended()
	}},
	{"RegisterEnds", some, func(f *fixture) {
		f.start()
		ctx, cancel := context.WithCancel(f.t.Context())
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		_, err := f.registry.Register(ctx, of("a", "x"))
		suite.WantErr(f.t, err, context.Canceled)
		<-hit
		f.until()
		f.register(of("a", "y"))
		f.untilOwned("a", "y")
		f.ended()
	}},
	{"RegisterClosed", some, func(f *fixture) {
		f.start()
		ended, cancel := context.WithCancel(f.t.Context())
		cancel()
		closed := make(chan error, 1)
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, func() {
			heal := f.network.Isolate()
			go func() {
				closed <- f.registry.Close(ended)
				heal()
			}()
		})
		_, err := f.registry.Register(f.t.Context(), of("a", "x"))
		suite.WantErr(f.t, err, framework.ErrClosed)
		<-hit
		suite.OK(f.t, <-closed)
		f.until()
	}},
	{"RegisterNoClient", suite.InVirtualTime, func(f *fixture) {
		f.start()
		suite.OK(f.t, f.client.Close(f.t.Context()))
		_, err := f.registry.Register(f.t.Context(), of("a", "x"))
		suite.WantErr(f.t, err, framework.ErrClosed)
		f.until()
	}},

	{"Reconnect", some, func(f *fixture) {
		before := f.registered()
		f.network.Cut()
		suite.OK(f.t, f.client.Sync().ForPath(f.t.Context(), "/"))
		if after := f.untilOwned("a", "x"); after.Czxid != before.Czxid || after.Mzxid != before.Mzxid {
			f.t.Error("a reconnect has written the node")
		}
		f.ended()
	}},
	{"Expired", some, func(f *fixture) {
		f.registered()
		f.expire()
		f.untilOwned("a", "x")
		f.ended()
	}},
	{"Lagging", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		f.network.Lag()
		heal := f.network.Isolate()
		f.delete("a")
		heal()
		f.untilOwned("a", "x")
		f.ended()
	}},
	{"Deleted", some, func(f *fixture) {
		f.registered()
		f.delete("a")
		f.untilOwned("a", "x")
		f.ended()
	}},
	{"ServiceDeleted", some, func(f *fixture) {
		f.registered()
		f.deleteService()
		f.untilOwned("a", "x")
		f.ended()
	}},
	{"StartEnds", suite.InVirtualTime, func(f *fixture) { // its context bounds Start, and nothing else
		ctx, cancel := context.WithCancel(f.t.Context())
		suite.OK(f.t, f.registry.Start(ctx))
		_, err := f.registry.Register(ctx, of("a", "x"))
		suite.OK(f.t, err)
		cancel()
		f.delete("a")
		f.untilOwned("a", "x")
		f.ended()
	}},
	{"Closed", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		f.ended()
		suite.WantErr(f.t, f.registry.Start(f.t.Context()), framework.ErrClosed)
		suite.WantErr(f.t, f.registry.Update(f.t.Context(), of("a", "x")), framework.ErrClosed)
		suite.WantErr(f.t, f.registry.Unregister(f.t.Context(), "orders", "a"), framework.ErrClosed)
	}},
	{"ClosedEnded", some, func(f *fixture) {
		f.registered()
		ctx, cancel := context.WithCancel(f.t.Context())
		cancel()
		suite.OK(f.t, f.registry.Close(ctx))
		f.ended()
	}},
	{"NoClient", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		suite.OK(f.t, f.client.Close(f.t.Context()))
		f.until()
		f.ended()
	}},

	{"UpdateCutBefore", suite.InVirtualTime, func(f *fixture) { f.updateAt(suite.CutBefore, nil) }},
	{"UpdateCutAfter", some, func(f *fixture) { f.updateAt(suite.CutAfter, nil) }},
	{"UpdateExpired", some, func(f *fixture) { f.updateAt(suite.CutBefore, func() { f.network.Expire(f.t) }) }},
	{"UpdateLagging", suite.InVirtualTime, func(f *fixture) { f.updateAt(suite.CutAfter, f.network.Lag) }},
	{"UpdateDeleted", suite.InVirtualTime, func(f *fixture) { f.updateAt(suite.Late, f.deleteServiceMeanwhile) }},
	{"UpdateSuspended", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		heal := f.network.Isolate()
		ctx, cancel := context.WithTimeout(f.t.Context(), 50*time.Millisecond)
		defer cancel()
		suite.WantErr(f.t, f.registry.Update(ctx, of("a", "y")), nodes.ErrPending, context.DeadlineExceeded)
		heal()
		f.untilOwned("a", "y")
		f.ended()
	}},
	{"UpdateEnds", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		ctx, cancel := context.WithCancel(f.t.Context())
		hit := f.network.On(jute.OpSetData, suite.CutAfter, cancel)
		if err := f.registry.Update(ctx, of("a", "y")); err != nil { // the keeper may be quicker
			suite.WantErr(f.t, err, nodes.ErrPending, context.Canceled)
		}
		<-hit
		f.untilOwned("a", "y")
		f.ended()
	}},
	{"UpdateClosed", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		ended, cancel := context.WithCancel(f.t.Context())
		cancel()
		closed := make(chan error, 1)
		hit := f.network.On(jute.OpSetData, suite.CutAfter, func() {
			heal := f.network.Isolate()
			go func() {
				closed <- f.registry.Close(ended)
				heal()
			}()
		})
		suite.WantErr(f.t, f.registry.Update(f.t.Context(), of("a", "y")), framework.ErrClosed)
		<-hit
		if err := <-closed; err != nil {
			suite.WantErr(f.t, err, nodes.ErrDeletePending)
		}
		f.until()
	}},
	{"UpdateNoClient", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		closed := make(chan error, 1)
		hit := f.network.On(jute.OpSetData, suite.Late, func() {
			go func() { closed <- f.client.Close(context.WithoutCancel(f.t.Context())) }()
		})
		if err := f.registry.Update(f.t.Context(), of("a", "y")); err != nil {
			suite.WantErr(f.t, err, framework.ErrClosed)
		}
		<-hit
		suite.OK(f.t, <-closed)
		f.until()
	}},

	{"UnregisterCutBefore", suite.InVirtualTime, func(f *fixture) { f.unregisterAt(suite.CutBefore, nil) }},
	{"UnregisterCutAfter", some, func(f *fixture) { f.unregisterAt(suite.CutAfter, nil) }},
	{"UnregisterExpired", some, func(f *fixture) { f.unregisterAt(suite.CutBefore, func() { f.network.Expire(f.t) }) }},
	{"UnregisterLagging", suite.InVirtualTime, func(f *fixture) { f.unregisterAt(suite.CutAfter, f.network.Lag) }},
	{"UnregisterDeleted", suite.InVirtualTime, func(f *fixture) { f.unregisterAt(suite.Late, f.deleteServiceMeanwhile) }},
	{"UnregisterSuspended", suite.InVirtualTime, func(f *fixture) { // no reconnect brings it back
		f.registered()
		heal := f.network.Isolate()
		ctx, cancel := context.WithTimeout(f.t.Context(), 50*time.Millisecond)
		defer cancel()
		suite.WantErr(f.t, f.registry.Unregister(ctx, "orders", "a"), nodes.ErrDeletePending, context.DeadlineExceeded)
		suite.WantErr(f.t, f.registry.Update(f.t.Context(), of("a", "y")), discovery.ErrNotRegistered)
		heal()
		f.until()
		f.expire()
		f.until()
		f.ended()
	}},
	{"UnregisterClosed", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		heal := f.network.Isolate()
		unregistered := make(chan error, 1)
		go func() { unregistered <- f.registry.Unregister(context.WithoutCancel(f.t.Context()), "orders", "a") }()
		ended, cancel := context.WithCancel(f.t.Context())
		cancel()
		if err := f.registry.Close(ended); err != nil {
			suite.WantErr(f.t, err, context.DeadlineExceeded)
		}
		heal()
		if err := <-unregistered; err != nil {
			suite.WantErr(f.t, err, framework.ErrClosed)
		}
		f.until()
	}},
	{"UnregisterNoClient", suite.InVirtualTime, func(f *fixture) {
		f.registered()
		suite.OK(f.t, f.client.Close(f.t.Context()))
		suite.OK(f.t, f.registry.Unregister(f.t.Context(), "orders", "a"))
		f.until()
	}},
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, cell := range cells {
		t.Run(cell.name, func(t *testing.T) {
			t.Parallel()
			suite.EachOf(t, cell.on, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b)
				f.service()
				cell.test(f)
			})
		})
	}
}

// registerAt registers an instance whose create meets its fate.
func (f *fixture) registerAt(fate suite.Fate, then func()) {
	f.t.Helper()
	f.start()
	hit := f.network.On(jute.OpCreate2, fate, then)
	f.register(of("a", "x"))
	<-hit
	f.untilOwned("a", "x")
	f.ended()
}

func (f *fixture) registered() framework.Stat {
	f.t.Helper()
	f.start()
	f.register(of("a", "x"))
	return f.untilOwned("a", "x")
}

// updateAt updates an instance whose write meets its fate.
func (f *fixture) updateAt(fate suite.Fate, then func()) {
	f.t.Helper()
	f.registered()
	hit := f.network.On(jute.OpSetData, fate, then)
	suite.OK(f.t, f.registry.Update(f.t.Context(), of("a", "y")))
	<-hit
	f.untilOwned("a", "y")
	f.ended()
}

// unregisterAt unregisters an instance whose deletion meets its fate.
func (f *fixture) unregisterAt(fate suite.Fate, then func()) {
	f.t.Helper()
	f.registered()
	hit := f.network.On(jute.OpDelete, fate, then)
	suite.OK(f.t, f.registry.Unregister(f.t.Context(), "orders", "a"))
	<-hit
	f.until()
	f.network.Cut()
	suite.OK(f.t, f.client.Sync().ForPath(f.t.Context(), "/"))
	f.until()
	f.ended()
}

// expire ends the session, and waits for another one.
func (f *fixture) expire() {
	f.t.Helper()
	before := f.client.SessionID()
	f.network.Expire(f.t)
	suite.Eventually(f.t, "another session", func() bool {
		id := f.client.SessionID()
		return id != 0 && id != before
	})
}

// A Start that fails has registered nothing, and can be repeated.
func TestStartAgain(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.service()
		for _, id := range []string{"a", "b", "c"} {
			f.register(of(id, "x"))
		}
		ctx, cancel := context.WithCancel(f.t.Context())
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		suite.WantErr(f.t, f.registry.Start(ctx), context.Canceled)
		<-hit
		f.until()
		f.start()
		f.until("a=x", "b=x", "c=x")
		suite.WantErr(f.t, f.registry.Start(f.t.Context()), framework.ErrAlreadyStarted)
		f.ended()
	})
}

// What a create may have left whose answer was lost is removed, or is known and can be removed.
func TestLostRegistration(t *testing.T) {
	for _, c := range []struct {
		name string
		kind discovery.ServiceType
		id   string
		left bool
	}{
		{"dynamic", discovery.Dynamic, "a", false},
		{"dynamic, anonymous", discovery.Dynamic, "", false},
		{"sequential", discovery.DynamicSequential, "a", false},
		{"static", discovery.Static, "a", true},
		{"static, anonymous", discovery.Static, "", false},
		{"permanent", discovery.Permanent, "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(f *fixture) {
				f.service()
				f.start()
				other := of("a", "other")
				other.Type = discovery.DynamicSequential
				other.Name = "orders"
				other.ID = "a0"
				f.register(other)
				i := of(c.id, "x")
				i.Type = c.kind
				ctx, cancel := context.WithCancel(f.t.Context())
				hit := f.network.On(jute.OpCreate2, suite.CutAfter, cancel)
				_, err := f.registry.Register(ctx, i)
				<-hit
				if !framework.MaybeApplied(err) {
					f.t.Fatalf("error %v", err)
				}
				if !c.left {
					f.until("a0=other")
					f.ended()
					return
				}
				f.until("a=x", "a0=other")
				suite.OK(f.t, f.registry.Unregister(f.t.Context(), "orders", "a"))
				f.until("a0=other")
				f.ended()
			})
		})
	}
}

// An instance that cannot be deleted is told of, and can be deleted later.
func TestNotEmpty(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.start()
		i := of("a", "x")
		i.Type = discovery.Static
		f.register(i)
		_, err := f.operator.Create().ForPath(f.t.Context(), f.path("a")+"/child")
		suite.OK(f.t, err)
		suite.WantErr(f.t, f.registry.Unregister(f.t.Context(), "orders", "a"), framework.ErrNotEmpty)
		suite.WantErr(f.t, f.registry.Unregister(f.t.Context(), "orders", "a"), framework.ErrNotEmpty)
		suite.OK(f.t, f.operator.Delete().ForPath(f.t.Context(), f.path("a")+"/child"))
		suite.OK(f.t, f.registry.Unregister(f.t.Context(), "orders", "a"))
		if got := f.payloads(); !slices.Equal(got, []string{}) {
			f.t.Errorf("left %q", got)
		}
		f.ended()
	})
}
