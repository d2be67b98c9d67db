package discovery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// cached returns a cache of orders that is started.
func (f *fixture) cached() *discovery.ServiceCache[string] {
	f.t.Helper()
	c := suite.Got(f.registry.Cache("orders")).OK(f.t)
	suite.OK(f.t, c.Start(f.t.Context()))
	return c
}

// shows waits until a cache has these instances.
func (f *fixture) shows(c *discovery.ServiceCache[string], want ...string) {
	f.t.Helper()
	var got []string
	defer func() {
		if f.t.Failed() {
			f.t.Logf("the cache has %q", got)
		}
	}()
	suite.Eventually(f.t, "the cache with "+strings.Join(want, " "), func() bool {
		got = texts(c.Instances())
		return slices.Equal(got, want)
	})
}

// A cache has what is registered when Start returns, and tells of what changes in its service
// alone.
func TestCache(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		f.start()
		for _, id := range []string{"a", "b", "c"} {
			f.register(of(id, "x"))
		}
		c := f.cached()
		if got := texts(c.Instances()); !slices.Equal(got, []string{"a=x", "b=x", "c=x"}) || c.Name() != "orders" {
			t.Errorf("loaded %q of %s", got, c.Name())
		}
		other := of("a", "other")
		other.Name = "bills"
		step := 0
		steps := []struct {
			do   func()
			want []string
		}{
			{func() {}, []string{"a=x", "b=x", "c=x"}},
			{func() { suite.OK(f.t, f.registry.Update(ctx, of("a", "y"))) }, []string{"a=y", "b=x", "c=x"}},
			{func() { suite.OK(f.t, f.registry.Unregister(ctx, "orders", "b")) }, []string{"a=y", "c=x"}},
			{func() { f.register(other); f.register(of("d", "x")) }, []string{"a=y", "c=x", "d=x"}},
		}
		for list := range c.Updates(ctx) {
			if got := texts(list); !slices.Equal(got, steps[step].want) {
				t.Fatalf("step %d: %q", step, got)
			}
			list[0].ID = "changed" // the slice is the caller's
			if step++; step == len(steps) {
				break
			}
			steps[step].do()
		}
		suite.OK(f.t, c.Close(ctx))
		if got := texts(c.Instances()); len(got) != 3 {
			t.Errorf("after Close: %q", got)
		}
		for range c.Updates(ctx) {
			t.Error("an update after Close")
		}
		f.ended()
	})
}

// Updates waits for Start, and ends with its context and with the registry.
func TestUpdatesEnd(t *testing.T) {
	virtual(t, func(f *fixture) {
		c := suite.Got(f.registry.Cache("orders")).OK(f.t)
		ctx, cancel := context.WithTimeout(f.t.Context(), time.Second)
		defer cancel()
		for range c.Updates(ctx) {
			f.t.Error("an update before Start")
		}
		suite.OK(f.t, c.Start(f.t.Context()))
		ended := make(chan int)
		go func() {
			n := 0
			for range c.Updates(f.t.Context()) {
				n++
			}
			ended <- n
		}()
		f.settled()
		suite.OK(f.t, f.registry.Close(f.t.Context()))
		if n := <-ended; n != 1 {
			f.t.Errorf("%d updates", n)
		}
	})
}

// Whatever strangers write, their instance alone is left out, and logged once for each change.
func TestStrangers(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		f.start()
		f.register(of("a", "x"))
		strangers := []string{"", "null", "5", "nonsense", `{"port":"x"}`, `{"payload":5}`, `{"payload":{"@class":"com.acme.Meta"}}`, "{} {}", `{"serviceType":"ODD"}`}
		var paths []string
		for i, data := range strangers {
			f.write(fmt.Sprint("s", i), data)
			paths = append(paths, f.path(fmt.Sprint("s", i)))
		}
		suite.Got(f.operator.Create().WithACL(framework.ACL{Perms: framework.PermDelete, Scheme: "world", ID: "anyone"}).WithData([]byte("{}")).ForPath(ctx, f.path("t"))).OK(f.t)
		_, err := f.registry.QueryForInstance(ctx, "orders", "s3")
		if err == nil || !strings.Contains(err.Error(), f.path("s3")) {
			t.Errorf("error %v", err)
		}
		got, err := f.registry.QueryForInstances(ctx, "orders")
		if err != nil || !slices.Equal(texts(got), []string{"a=x"}) {
			t.Errorf("queried %v, %v", got, err)
		}
		f.settled()
		if logged := f.log.take(); !slices.Equal(logged, append(slices.Clone(paths), f.path("t"))) {
			t.Errorf("logged %q", logged)
		}
		c := f.cached()
		f.shows(c, "a=x")
		f.register(of("b", "x"))
		f.shows(c, "a=x", "b=x")
		f.settled()
		logged := f.log.take()
		if slices.Sort(logged); !slices.Equal(logged, paths) {
			t.Errorf("logged %q", logged)
		}
		f.write("s0", `{"id":"s0","payload":"good"}`)
		f.shows(c, "a=x", "b=x", "s0=good")
		f.write("s0", "bad again")
		f.shows(c, "a=x", "b=x")
		suite.OK(f.t, f.registry.Close(ctx))
	})
}

// What befalls a cache: its list stays while the client is cut off, and is right after that.
func TestCacheFaults(t *testing.T) {
	for name, fault := range map[string]func(f *fixture){
		"suspended": func(f *fixture) {
			heal := f.network.Isolate()
			f.write("b", `{"id":"b"}`)
			heal()
		},
		"lost": func(f *fixture) {
			f.expire()
			f.write("b", `{"id":"b"}`)
		},
		"lagging": func(f *fixture) {
			f.network.Lag()
			f.network.Cut()
			f.write("b", `{"id":"b"}`)
		},
		"parent deleted": func(f *fixture) {
			f.deleteService()
			f.write("a", `{"id":"a","payload":"x"}`)
			f.write("b", `{"id":"b"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.EachOf(t, some, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b)
				f.write("a", `{"id":"a","payload":"x"}`)
				c := f.cached()
				f.shows(c, "a=x")
				fault(f)
				f.shows(c, "a=x", "b=")
				suite.OK(f.t, f.registry.Close(t.Context()))
			})
		})
	}
	t.Run("client closed", func(t *testing.T) {
		virtual(t, func(f *fixture) {
			f.write("a", `{"id":"a","payload":"x"}`)
			c := f.cached()
			suite.OK(f.t, f.client.Close(f.t.Context()))
			f.shows(c, "a=x")
			suite.OK(f.t, c.Close(f.t.Context()))
		})
	})
	t.Run("start ends", func(t *testing.T) {
		virtual(t, func(f *fixture) {
			heal := f.network.Isolate()
			c := suite.Got(f.registry.Cache("orders")).OK(f.t)
			ctx, cancel := context.WithTimeout(f.t.Context(), 50*time.Millisecond)
			defer cancel()
			suite.WantErr(f.t, c.Start(ctx), context.DeadlineExceeded)
			heal()
			suite.OK(f.t, c.Start(f.t.Context()))
			ended, end := context.WithCancel(f.t.Context())
			end()
			suite.OK(f.t, c.Close(ended))
			suite.OK(f.t, f.registry.Close(f.t.Context()))
		})
	})
}

// When the servers have lost their data, other instances can have the same zxids by chance. The list is that
// of now all the same.
func TestCacheAfterDataLoss(t *testing.T) {
	virtual(t, func(f *fixture) {
		instances := func(payload string) (zxids []int64) {
			for _, id := range []string{"a", "b"} {
				var stat framework.Stat
				data := suite.Got(discovery.JSON[string]().Encode(of(id, payload))).OK(f.t)
				suite.Got(f.operator.Create().CreatingParentsIfNeeded().WithData(data).StoringStatIn(&stat).ForPath(f.t.Context(), f.path(id))).OK(f.t)
				zxids = append(zxids, stat.Mzxid)
			}
			return zxids
		}
		before := instances("x")
		c := f.cached()
		f.shows(c, "a=x", "b=x")
		heal := f.network.Isolate()
		f.b.Server().RestartEmpty()
		settle(10 * suite.SessionTimeout)
		other, _ := f.b.Client(f.t) // its session has a zxid, as that of the client had
		suite.OK(f.t, other.BlockUntilConnected(f.t.Context()))
		suite.OK(f.t, f.operator.BlockUntilConnected(f.t.Context()))
		if now := instances("y"); !slices.Equal(now, before) {
			f.t.Fatalf("the zxids are %d, and were %d", now, before)
		}
		heal()
		f.shows(c, "a=y", "b=y")
		suite.OK(f.t, c.Close(f.t.Context()))
	})
}

// After a restart on an older snapshot the list is that of the servers, also if an instance was changed with the
// same zxid before and after it.
func TestCacheAfterRestoredSnapshot(t *testing.T) {
	suite.Twins(t, func(t *testing.T, first, second *suite.Backend, restore func()) {
		f, older := newFixture(t, first), newFixture(t, second)
		set := func(f *fixture, id, payload string) int64 {
			var stat framework.Stat
			data := suite.Got(discovery.JSON[string]().Encode(of(id, payload))).OK(f.t)
			suite.Got(f.operator.Create().OrSetData().CreatingParentsIfNeeded().WithData(data).StoringStatIn(&stat).ForPath(t.Context(), f.path(id))).OK(f.t)
			return stat.Mzxid
		}
		for _, twin := range []*fixture{f, older} {
			set(twin, "a", "x")
			set(twin, "b", "x")
		}
		c := f.cached()
		before := set(f, "a", "y")
		for range 30 {
			set(f, "b", "y")
		}
		f.shows(c, "a=y", "b=y")
		restore()
		settle(time.Second)
		if now := set(older, "a", "z"); now != before {
			t.Fatalf("the zxid is %d, and was %d", now, before)
		}
		f.shows(c, "a=z", "b=x")
		suite.OK(f.t, c.Close(t.Context()))
	})
}
