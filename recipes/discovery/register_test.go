package discovery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/nodes"
)

// equalInstances lets instances be compared.
var equalInstances = cmp.AllowUnexported(discovery.URISpec{})

// What was registered before Start and after it is found, as it is, and gone after Close.
func TestRegister(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		spec := suite.Got(discovery.ParseURISpec("{scheme}://{address}:{port}")).OK(f.t)
		want := of("a", "x")
		want.SSLPort, want.URISpec, want.Disabled = 8443, spec, true
		if got := f.register(want); !cmp.Equal(got, want, equalInstances) {
			t.Errorf("registered %+v", got)
		}
		f.until()
		f.start()
		f.register(of("b", "y"))
		f.until("a=x", "b=y")
		got := suite.Got(f.registry.QueryForInstance(ctx, "orders", "a")).OK(f.t)
		if diff := cmp.Diff(want, got, equalInstances); diff != "" {
			t.Error(diff)
		}
		names, err := f.registry.QueryForNames(ctx)
		if err != nil || !slices.Equal(names, []string{"orders"}) {
			t.Errorf("services %q, %v", names, err)
		}
		if instances, err := f.registry.QueryForInstances(ctx, "others"); err != nil || len(instances) > 0 {
			t.Errorf("an unknown service has %v, %v", instances, err)
		}
		suite.Got(f.registry.QueryForInstance(ctx, "orders", "c")).Fails(t, framework.ErrNoNode)
		f.ended()
		suite.Got(f.registry.Register(ctx, of("c", "z"))).Fails(t, framework.ErrClosed)
	})
}

// A registry that does not exist yet has no services.
func TestNoRegistry(t *testing.T) {
	virtual(t, func(f *fixture) {
		if names, err := f.registry.QueryForNames(f.t.Context()); err != nil || len(names) > 0 {
			f.t.Errorf("services %q, %v", names, err)
		}
	})
}

// Register fills in what was left open.
func TestFilledIn(t *testing.T) {
	virtual(t, func(f *fixture) {
		address, err := discovery.LocalAddress(nil)
		if err != nil { // this machine has none
			address = "10.0.0.7"
		}
		f.start()
		before := time.Now().Truncate(time.Millisecond)
		i := instance{Name: "orders"}
		if err != nil {
			_, refused := f.registry.Register(f.t.Context(), i)
			suite.WantErr(f.t, refused, framework.ErrInvalidOption)
			i.Address = address
		}
		got := f.register(i)
		if len(got.ID) != 36 || got.Address != address || got.Registered.Before(before) || got.Registered.Location() != time.UTC {
			f.t.Errorf("registered %+v", got)
		}
		read, err := f.registry.QueryForInstance(f.t.Context(), "orders", got.ID)
		if err != nil || !cmp.Equal(read, got, equalInstances) {
			f.t.Errorf("read %+v, %v", read, err)
		}
	})
}

// The types differ in how long the node stays, and in its kind.
func TestTypes(t *testing.T) {
	each(t, func(f *fixture) {
		f.start()
		for _, c := range []struct {
			kind      discovery.ServiceType
			ephemeral bool
			left      bool
		}{
			{discovery.Dynamic, true, false},
			{discovery.Static, false, false},
			{discovery.Permanent, false, true},
			{discovery.DynamicSequential, true, false},
		} {
			i := of(c.kind.String(), "x")
			i.Type = c.kind
			f.register(i)
		}
		names := suite.Got(f.operator.GetChildren().ForPath(f.t.Context(), paths.Make(f.base, "orders"))).OK(f.t)
		slices.Sort(names)
		var kinds []string
		for _, name := range names {
			var stat framework.Stat
			suite.Got(f.operator.CheckExists().StoringStatIn(&stat).ForPath(f.t.Context(), f.path(name))).OK(f.t)
			kinds = append(kinds, fmt.Sprint(name, " ", stat.EphemeralOwner != 0))
		}
		want := []string{"DYNAMIC true", "DYNAMIC_SEQUENTIAL0000000001 true", "PERMANENT false", "STATIC false"}
		if len(names) == 4 {
			want[1] = names[1] + " true" // a real server counts every change
		}
		if !slices.Equal(kinds, want) {
			f.t.Errorf("nodes %q", kinds)
		}
		suite.OK(f.t, f.registry.Close(f.t.Context()))
		f.until("PERMANENT=x")
	})
}

// Two services may have one id, and an instance is known by both.
func TestSameID(t *testing.T) {
	each(t, func(f *fixture) {
		f.start()
		other := of("a", "y")
		other.Name = "bills"
		f.register(of("a", "x"))
		f.register(other)
		f.network.Expire(f.t)
		f.untilOwned("a", "x")
		suite.Eventually(f.t, "the other service's instance", func() bool {
			i, err := f.newQuery().QueryForInstance(f.t.Context(), "bills", "a")
			return err == nil && i.Payload == "y"
		})
		suite.OK(f.t, f.registry.Unregister(f.t.Context(), "bills", "a"))
		f.until("a=x")
		f.ended()
	})
}

// An instance is replaced by Update, and by another Register, without a moment at which it is
// missing; the type only by Register.
func TestReplaced(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		suite.WantErr(t, f.registry.Update(ctx, of("a", "x")), discovery.ErrNotRegistered)
		f.register(of("a", "planned"))
		suite.OK(f.t, f.registry.Update(ctx, of("a", "w")))
		f.start()
		before := f.untilOwned("a", "w")
		suite.OK(f.t, f.registry.Update(ctx, instance{Name: "orders", ID: "a", Payload: "x"}))
		f.until("a=x")
		if i, err := f.registry.QueryForInstance(ctx, "orders", "a"); err != nil || i.Address != "10.0.0.7" || i.Registered.UnixMilli() != 1 {
			t.Errorf("updated to %+v, %v", i, err)
		}
		f.register(of("a", "y"))
		if after := f.untilOwned("a", "y"); after.Czxid != before.Czxid {
			t.Error("the node was made again")
		}
		static := of("a", "z")
		static.Type = discovery.Static
		suite.WantErr(t, f.registry.Update(ctx, static), framework.ErrInvalidOption)
		f.register(static)
		f.until("a=z")
		f.network.Expire(t)
		f.until("a=z")
		suite.OK(f.t, f.registry.Unregister(ctx, "orders", "a"))
		suite.OK(f.t, f.registry.Unregister(ctx, "orders", "a"))
		f.until()
		suite.WantErr(t, f.registry.Update(ctx, of("a", "x")), discovery.ErrNotRegistered)
		f.ended()
	})
}

// What is there already is taken over: the node of a process that has died, and one of another
// kind.
func TestTakeover(t *testing.T) {
	for _, mode := range []framework.CreateMode{framework.Ephemeral, framework.Persistent} {
		for _, kind := range []discovery.ServiceType{discovery.Dynamic, discovery.Static} {
			t.Run(fmt.Sprint(mode, " by ", kind), func(t *testing.T) {
				virtual(t, func(f *fixture) {
					suite.Got(f.operator.Create().CreatingParentContainersIfNeeded().WithMode(mode).WithData([]byte("{}")).ForPath(f.t.Context(), f.path("a"))).OK(f.t)
					for range 2 { // the second one finds its own
						i := of("a", "x")
						i.Type = kind
						f.start()
						f.register(i)
						if kind == discovery.Dynamic {
							f.untilOwned("a", "x")
						}
						f.until("a=x")
						f.ended()
						f.registry = f.newRegistry(f.client)
					}
				})
			})
		}
	}
}

// Of two processes with one id the last one has the node. The other leaves it, and has it again
// when it has gone.
func TestTakenOver(t *testing.T) {
	each(t, func(f *fixture) {
		ctx := f.t.Context()
		f.start()
		f.register(of("a", "first"))
		client, _ := f.b.Client(f.t)
		second := f.newRegistry(client)
		suite.OK(f.t, second.Start(ctx))
		suite.Got(second.Register(ctx, of("a", "second"))).OK(f.t)
		f.until("a=second")
		f.network.Cut()
		suite.OK(f.t, f.client.Sync().ForPath(ctx, "/"))
		f.until("a=second")
		suite.OK(f.t, second.Close(ctx))
		f.untilOwned("a", "first")
		f.ended()
	})
}

// A DynamicSequential instance keeps its number.
func TestSequential(t *testing.T) {
	each(t, func(f *fixture) {
		ctx := f.t.Context()
		f.start()
		i := of("a", "x")
		i.Type = discovery.DynamicSequential
		f.register(i)
		names := func() []string {
			names := suite.Got(f.operator.GetChildren().ForPath(ctx, paths.Make(f.base, "orders"))).OK(f.t)
			return names
		}
		before := names()
		if len(before) != 1 || len(before[0]) != len("a0000000000") {
			f.t.Fatalf("nodes %q", before)
		}
		f.network.Expire(f.t)
		f.untilNode(before[0])
		i.Payload = "y"
		suite.OK(f.t, f.registry.Update(ctx, i))
		f.delete(before[0])
		f.untilNode(before[0])
		f.until("a=y")
		if after := names(); !slices.Equal(after, before) {
			f.t.Errorf("nodes %q, before %q", after, before)
		}
		suite.OK(f.t, f.registry.Unregister(ctx, "orders", "a"))
		f.until()
		f.ended()
	})
}

// untilNode waits for a node of the client's session of now.
func (f *fixture) untilNode(name string) {
	f.t.Helper()
	suite.Eventually(f.t, "the node "+name, func() bool {
		var stat framework.Stat
		there := suite.Got(f.operator.CheckExists().StoringStatIn(&stat).ForPath(f.t.Context(), f.path(name))).OK(f.t)
		return there && stat.EphemeralOwner == f.client.SessionID() && stat.EphemeralOwner != 0
	})
}

// An operator's change of a registered instance is taken over, and comes back with the next
// session.
func TestWatchInstances(t *testing.T) {
	each(t, func(f *fixture) {
		ctx := f.t.Context()
		f.start()
		f.register(of("a", "x"))
		edited := of("a", "edited")
		edited.Disabled = true
		data := suite.Got(discovery.JSON[string](discovery.WithEnabledKey()).Encode(edited)).OK(f.t)
		f.write("a", string(data))
		f.log.take()
		f.taken("a", 2)
		f.network.Expire(f.t)
		f.untilOwned("a", "edited")
		f.write("a", "nonsense")
		suite.Eventually(f.t, "the log", func() bool { return slices.Equal(f.log.take(), []string{f.path("a")}) })
		suite.OK(f.t, f.registry.Update(ctx, of("a", "y")))
		f.untilOwned("a", "y")
		suite.OK(f.t, f.registry.Update(ctx, of("a", "z"))) // its own writes are not those of others
		suite.OK(f.t, f.registry.Update(ctx, of("a", "x")))
		f.untilOwned("a", "x")
		f.ended()
	}, discovery.WithWatchInstances())
}

// taken waits until the registry has taken over what somebody else has written. Mostly it writes the
// same data again. If its keeper looks at the node at the right moment there is nothing to be written,
// and nothing to be seen but that a second passes.
func (f *fixture) taken(id string, version int32) {
	f.t.Helper()
	begin := time.Now()
	suite.Eventually(f.t, "the registry's write", func() bool {
		var stat framework.Stat
		suite.Got(f.operator.CheckExists().StoringStatIn(&stat).ForPath(f.t.Context(), f.path(id))).OK(f.t)
		return stat.Version >= version || time.Since(begin) > time.Second
	})
}

// Without the option the change stays until the node is made again.
func TestNotWatched(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.start()
		f.register(of("a", "x"))
		f.write("a", `{"id":"a","payload":"edited"}`)
		f.until("a=edited")
		f.network.Expire(f.t)
		f.untilOwned("a", "x")
		f.ended()
	})
}

// Unregister may be repeated to wait for the end.
func TestUnregisterAgain(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		f.start()
		f.register(of("a", "x"))
		heal := f.network.Isolate()
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			err := f.registry.Unregister(ctx, "orders", "a")
			cancel()
			suite.WantErr(t, err, nodes.ErrDeletePending, context.DeadlineExceeded)
		}
		time.AfterFunc(time.Second, heal)
		suite.OK(f.t, f.registry.Unregister(t.Context(), "orders", "a"))
		f.until()
		f.register(of("a", "y"))
		f.untilOwned("a", "y")
		f.ended()
	})
}

// An Update writes all of an instance, also over what an operator has written.
func TestUpdateOverwritesTheOperator(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		f.start()
		i := f.register(of("a", "x"))
		data := suite.Got(f.operator.GetData().ForPath(ctx, f.path("a"))).OK(f.t)
		f.write("a", strings.Replace(string(data), `"enabled":true`, `"enabled":false`, 1))
		f.settled()
		p := f.provider(discovery.ProviderConfig[string]{})
		f.offers(p, "the operator has disabled it", "")
		present := suite.Got(f.registry.QueryForInstance(ctx, "orders", "a")).OK(f.t)
		present.Payload = "y"
		suite.OK(f.t, f.registry.Update(ctx, present))
		f.settled()
		f.offers(p, "the owner has kept that", "")
		i.Payload = "z"
		suite.OK(f.t, f.registry.Update(ctx, i))
		f.settled()
		f.offers(p, "the owner has written its own", "a")
		if !present.Disabled {
			t.Error("the query does not know what the operator has written")
		}
		f.ended()
	}, discovery.WithWatchInstances())
}
