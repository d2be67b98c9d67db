package blocking_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/tools/curatortest"
)

// notYet are the calls on a component whose Start in the background has not succeeded: what they wait for,
// and what they say meanwhile, which the functions check.
var notYet = map[string]map[string]func(f *fixture, l *late) call{
	"shared.Value": {
		"": func(f *fixture, l *late) call {
			v := l.Component.(*shared.Value[string])
			if now := v.VersionedValue(); now.Value != "seed" || now.Zxid != -1 {
				f.Errorf("the value is %+v", now)
			}
			return nil
		},
		"Updates": func(_ *fixture, l *late) call { return through(l.Component.(*shared.Value[string]).Updates) },
		"Set": func(_ *fixture, l *late) call {
			return func(ctx context.Context) error { return value(l.Component.(*shared.Value[string]).Set(ctx, "x")) }
		},
	},
	"shared.Count": {"Updates": func(_ *fixture, l *late) call { return through(l.Component.(*shared.Count).Updates) }},
	"cache.CuratorCache": {
		"": func(f *fixture, l *late) call {
			c := l.Component.(*cache.CuratorCache)
			if _, stale := c.Stale(); stale || c.Snapshot().Len() > 0 || c.Snapshot().Exact() {
				f.Errorf("%d nodes, exact %t, stale %t", c.Snapshot().Len(), c.Snapshot().Exact(), stale)
			}
			_, err := cache.NewTyped(c, func(cache.ChildData) (string, error) { return "", nil })
			suite.WantErr(f.T, err, framework.ErrAlreadyStarted)
			return nil
		},
		"Updates": func(_ *fixture, l *late) call { return through(l.Component.(*cache.CuratorCache).Updates) },
		"Await": func(_ *fixture, l *late) call {
			return func(ctx context.Context) error { return l.Component.(*cache.CuratorCache).Await(ctx, 1) }
		},
	},
	"modeled.CachedModeledFramework": {
		"Updates": func(_ *fixture, l *late) call {
			return through(l.Component.(*modeled.CachedModeledFramework[string]).Updates)
		},
	},
	"nodes.PersistentNode": {
		"SetData": func(_ *fixture, l *late) call {
			return func(ctx context.Context) error {
				return l.Component.(*nodes.PersistentNode).SetData(ctx, []byte("x"))
			}
		},
		"SetData, a context that ends": func(f *fixture, l *late) call {
			ctx, cancel := context.WithTimeout(f.Context(), time.Second)
			defer cancel()
			n := l.Component.(*nodes.PersistentNode)
			suite.WantErr(f.T, n.SetData(ctx, []byte("later")), nodes.ErrPending, context.DeadlineExceeded)
			if got := string(n.Data()); got != "later" {
				f.Errorf("the data is %q", got)
			}
			return nil
		},
	},
	"nodes.GroupMember": {
		"": func(f *fixture, l *late) call {
			if all := l.Component.(*nodes.GroupMember).Members(); len(all) > 0 {
				f.Errorf("members: %q", all)
			}
			return nil
		},
		"Updates": func(_ *fixture, l *late) call { return through(l.Component.(*nodes.GroupMember).Updates) },
	},
	"watch.PersistentWatcher": {"Events": func(_ *fixture, l *late) call { return through(l.Component.(*watch.PersistentWatcher).Events) }},
	"leader.LeaderLatch": {
		"Await": func(f *fixture, l *late) call {
			latch := l.Component.(*leader.LeaderLatch)
			if latch.Leadership().Err() == nil {
				f.Error("it leads")
			}
			return func(ctx context.Context) error { return value(latch.Await(ctx)) }
		},
	},
	"discovery.ServiceCache": {
		"Updates": func(_ *fixture, l *late) call { return through(l.Component.(*discovery.ServiceCache[string]).Updates) },
	},
	"discovery.ServiceProvider": {
		"": func(f *fixture, l *late) call {
			p := l.Component.(*discovery.ServiceProvider[string])
			<-time.After(away)
			_, err := p.Instance()
			suite.WantErr(f.T, err, discovery.ErrNoInstance, framework.ErrNotStarted, framework.ErrConnectionLoss)
			_, err = p.Choose(nil)
			suite.WantErr(f.T, err, discovery.ErrNoInstance)
			if all := p.Instances(); len(all) > 0 {
				f.Errorf("instances: %v", all)
			}
			return nil
		},
		"Updates": func(_ *fixture, l *late) call {
			return through(l.Component.(*discovery.ServiceProvider[string]).Updates)
		},
	},
}

// through is a call that goes through an iterator until it ends.
func through[T any](of func(ctx context.Context) iter.Seq[T]) call {
	return func(ctx context.Context) error { return all(of(ctx)) }
}

// Calls on a component that is not there yet say so, or wait, and end with the client.
func TestNotYet(t *testing.T) {
	for name, calls := range notYet {
		for what, prepare := range calls {
			for begins, started := range map[string]bool{"while it waits": true, "before Start": false} {
				if !started && what != "Updates" && what != "Events" {
					continue // they do not wait
				}
				t.Run(name+"/"+what+"/"+begins, func(t *testing.T) {
					suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
						f := newFixture(t, b, soonGivesUp)
						defer f.network.Isolate()()
						l := f.late(inBackground[name][0])
						if started {
							f.startLate(l)
						}
						if c := prepare(f, l); c != nil {
							f.wantClosed(ends(c, f.close))
						}
					})
				})
			}
		}
	}
}

// What is set while a component is not there yet counts when it is.
func TestSetNotYet(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, soonGivesUp)
		heal := f.network.Isolate()
		l := f.late(inBackground["nodes.PersistentNode"][0])
		node := l.Component.(*nodes.PersistentNode)
		f.startLate(l)
		set := make(chan error, 1)
		go func() { set <- node.SetData(t.Context(), []byte("later")) }()
		<-time.After(away)
		if len(set) > 0 {
			t.Errorf("SetData has returned %v, without a server", <-set)
		}
		heal()
		f.ok(<-set)
		if data, _ := b.Server().Get(node.ActualPath()); string(data) != "later" {
			t.Errorf("the node has %q", data)
		}
		f.comes(l, time.Minute)
	})
}

// Data that the client refuses ends its SetData, and not the Start.
func TestRefusedNotYet(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, soonGivesUp, framework.WithMaxData(1024))
		heal := f.network.Isolate()
		l := f.late(inBackground["nodes.PersistentNode"][0])
		f.startLate(l)
		set := make(chan error, 1)
		go func() { set <- l.Component.(*nodes.PersistentNode).SetData(t.Context(), make([]byte, 2000)) }()
		<-time.After(away)
		heal()
		suite.WantErr(t, <-set, framework.ErrTooLarge)
		f.comes(l, time.Minute)
	})
}

// The pauses between tries that are refused grow to 30 s.
func TestPausesInBackground(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		l := f.late(inBackground["watch.PersistentWatcher"][0])
		f.refuse(1 << 20)
		f.startLate(l)
		<-time.After(20 * time.Minute)
		if n := f.network.Requests(jute.OpAddWatch); n < 27 || n > 100 { // 15 s to 45 s each
			t.Errorf("%d tries in 20 minutes", n)
		}
	})
}

// An instance that is refused does not keep the others from being registered, once each.
func TestRegisterInBackground(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, soonGivesUp)
		heal := outages["refused"](f)
		synctest.Wait() // a request on the connection that is being cut would leave a doubt
		d := f.registry(discovery.WithStartInBackground())
		register := func(id string) discovery.ServiceInstance[string] {
			instance := f.instance()
			instance.ID = id
			return made(f, instance, value(d.Register(t.Context(), instance)))
		}
		register("refused")
		register("gone")
		updated := register("updated")
		f.ok(d.Start(t.Context()))
		<-time.After(away)
		f.ok(d.Unregister(t.Context(), "service", "gone"))
		updated.Payload = "new"
		f.ok(d.Update(t.Context(), updated))
		b.Server().Inject(curatortest.Rule{
			Op: "create", Path: f.path + "/services/service/refused", Times: 3, Do: curatortest.Fail(framework.ErrNoAuth),
		})
		heal()
		var got []discovery.ServiceInstance[string]
		var err error
		suite.Eventually(t, "an instance", func() bool { // with the first try, before others are allowed
			got, err = d.QueryForInstances(t.Context(), "service")
			return len(got) > 0
		})
		if err != nil || len(got) != 1 || got[0].Payload != "new" {
			t.Errorf("registered: %v, %v", got, err)
		}
		<-time.After(time.Minute)
		if got, err = d.QueryForInstances(t.Context(), "service"); err != nil || len(got) != 2 {
			t.Errorf("registered after a minute: %v, %v", got, err)
		}
		f.ok(d.Close(t.Context()))
		f.nothingLeft(f.b.Watches())
	})
}

// Components that are started ahead of ZooKeeper are there after it.
func TestStartInBackgroundReal(t *testing.T) {
	server := curatortest.Real(t)
	f := &fixture{T: t, b: suite.Real(t), client: server.Client(t, soonGivesUp), other: server.Client(t)}
	var all []*late
	for _, kinds := range inBackground {
		for _, kind := range kinds {
			f.path = fmt.Sprintf("/node-%d", len(all))
			f.must(f.other.Create().ForPath(t.Context(), f.path))
			all = append(all, f.late(kind))
		}
	}
	server.Stop()
	for _, l := range all {
		f.startLate(l)
	}
	<-time.After(3 * time.Second)
	for _, l := range all {
		if l.isThere() {
			t.Errorf("%T has told that it is there, without a server", l.Component)
		}
	}
	server.Start()
	for _, l := range all {
		f.comes(l, time.Minute)
	}
	for _, l := range all {
		f.ok(f.closed(l))
	}
}
