package discovery_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// some instances, by their ids.
func instances(ids string) (list []instance) {
	for id := range strings.SplitSeq(ids, "") {
		list = append(list, of(id, ""))
	}
	return list
}

// What strategies pick from instances that come and go.
func TestStrategies(t *testing.T) {
	for name, c := range map[string]struct {
		strategy discovery.Strategy[string]
		from     []string
		want     string
	}{
		"round robin":               {discovery.RoundRobin[string](), []string{"a", "abc", "abc", "abc", "abc", "ab"}, "abcabb"},
		"sticky":                    {discovery.Sticky(discovery.RoundRobin[string]()), []string{"abc", "abc", "bca", "cba", "bc", "bc", "abc", "a"}, "aaaaccca"},
		"sticky, by default":        {discovery.Sticky[string](nil), []string{"abc", "abc", "bc", "bc"}, "aacc"},
		"sticky of sticky, and one": {discovery.Sticky(discovery.Sticky[string](nil)), []string{"a", "a", "b"}, "aab"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, from := range c.from {
				got += c.strategy.Pick(instances(from)).ID
			}
			if got != c.want {
				t.Errorf("picked %s, want %s", got, c.want)
			}
		})
	}
}

// Random picks each about as often as the others.
func TestRandom(t *testing.T) {
	counts, from := map[string]int{}, instances("abcde")
	for range 5_000 {
		counts[discovery.Random[string]().Pick(from).ID]++
	}
	for id, n := range counts {
		if n < 800 || n > 1_200 {
			t.Errorf("%s was picked %d times of 5000", id, n)
		}
	}
	if len(counts) != 5 {
		t.Errorf("picked %v", counts)
	}
}

// A sticky strategy picks one instance for all goroutines.
func TestStickyTogether(t *testing.T) {
	strategy, from := discovery.Sticky(discovery.Random[string]()), instances("abcdefgh")
	var mu sync.Mutex
	picked := map[string]bool{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				id := strategy.Pick(from).ID
				mu.Lock()
				picked[id] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(picked) != 1 {
		t.Errorf("picked %v", picked)
	}
}

// provider returns a provider of orders that is started.
func (f *fixture) provider(config discovery.ProviderConfig[string]) *discovery.ServiceProvider[string] {
	f.t.Helper()
	p := suite.Got(f.registry.Provider("orders", config)).OK(f.t)
	suite.OK(f.t, p.Start(f.t.Context()))
	return p
}

// picks returns the ids of so many instances, "-" for none.
func picks(t *testing.T, p *discovery.ServiceProvider[string], n int) string {
	t.Helper()
	ids := ""
	for range n {
		i, err := p.Instance()
		if err != nil {
			suite.WantErr(t, err, discovery.ErrNoInstance)
			i.ID = "-"
		}
		ids += i.ID
	}
	return ids
}

// A provider offers what is registered, enabled and accepted by the filter.
func TestProvider(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		f.start()
		p := f.provider(discovery.ProviderConfig[string]{Filter: func(i instance) bool { return i.Payload != "hidden" }})
		if got := picks(t, p, 2); got != "--" || p.Name() != "orders" {
			t.Errorf("without instances: %s of %s", got, p.Name())
		}
		disabled := of("d", "x")
		disabled.Disabled = true
		for _, i := range []instance{of("a", "x"), of("b", "x"), of("c", "hidden"), disabled} {
			f.register(i)
		}
		f.settled()
		if got := picks(t, p, 4); got != "abab" {
			t.Errorf("picked %s", got)
		}
		if got := texts(p.Instances()); !slices.Equal(got, []string{"a=x", "b=x"}) {
			t.Errorf("instances %q", got)
		}
		disabled.Disabled = false
		suite.OK(f.t, f.registry.Update(t.Context(), disabled))
		suite.OK(f.t, f.registry.Unregister(t.Context(), "orders", "a"))
		f.settled()
		if got := texts(p.Instances()); !slices.Equal(got, []string{"b=x", "d=x"}) {
			t.Errorf("instances %q", got)
		}
		heal := f.network.Isolate() // the list stays
		settle(10 * time.Second)
		if got := picks(t, p, 2); strings.Contains(got, "-") {
			t.Errorf("while cut off: %s", got)
		}
		if _, stale := p.Stale(); !stale {
			t.Error("the list is not stale")
		}
		heal()
		f.untilNode("b")
		f.ended()
		if got := picks(t, p, 1); got == "-" {
			t.Error("the last list has gone with Close")
		}
	})
}

// settle lets virtual time pass, and everything happen that is due then.
func settle(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

// settled waits until a cache has what was registered, in virtual time.
func (f *fixture) settled() { settle(time.Second) }

// Instances with too many errors are not offered for a while.
func TestDown(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		f.start()
		a := f.register(of("a", "x"))
		f.register(of("b", "x"))
		p := f.provider(discovery.ProviderConfig[string]{})
		q := f.provider(discovery.ProviderConfig[string]{ErrorThreshold: 1, DownTime: time.Second})
		want := func(what string, p *discovery.ServiceProvider[string], want ...string) {
			t.Helper()
			var ids []string
			for _, i := range p.Instances() {
				ids = append(ids, i.ID)
			}
			if !slices.Equal(ids, want) {
				t.Errorf("%s: %q, want %q", what, ids, want)
			}
		}
		p.NoteError(a)
		want("one error", p, "a", "b")
		settle(29 * time.Second)
		p.NoteError(a)
		want("two errors", p, "b")
		settle(time.Second)
		want("the first one is old", p, "a", "b")
		p.NoteError(a)
		want("a third", p, "b")
		settle(29 * time.Second)
		want("the second one is old", p, "a", "b")
		settle(time.Second)
		p.NoteError(a)
		want("a fourth, after the third is old", p, "a", "b")

		q.NoteError(a)
		want("another provider", p, "a", "b")
		want("one is enough", q, "b")
		other := a
		other.Name = "bills"
		q.NoteError(other)
		elsewhere := a
		elsewhere.Address = "10.0.0.8"
		suite.OK(f.t, f.registry.Update(t.Context(), elsewhere))
		settle(200 * time.Millisecond)
		want("the same id elsewhere", q, "a", "b")
		q.NoteError(elsewhere)
		q.NoteError(of("b", "x"))
		if got := picks(t, q, 2); got != "--" {
			t.Errorf("all are down: %s", got)
		}
		settle(time.Second)
		want("all come back", q, "a", "b")
		f.ended()
	})
}

// Many goroutines choose while instances come and go.
func TestProviderTogether(t *testing.T) {
	each(t, func(f *fixture) {
		f.start()
		f.register(of("a", "x"))
		p := f.provider(discovery.ProviderConfig[string]{})
		stop := make(chan struct{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					i, err := p.Instance()
					if err != nil {
						f.t.Errorf("Instance: %v", err)
						return
					}
					p.NoteError(instance{Name: "orders", ID: i.ID})
				}
			})
		}
		for n := range 10 {
			id := fmt.Sprint("b", n)
			f.register(of(id, "x"))
			suite.OK(f.t, f.registry.Unregister(f.t.Context(), "orders", id))
		}
		close(stop)
		all.Wait()
		f.ended()
	})
}

// A provider can be made while nothing works, and is not one before Start.
func TestProviderBeforeStart(t *testing.T) {
	virtual(t, func(f *fixture) {
		p := suite.Got(f.registry.Provider("orders", discovery.ProviderConfig[string]{})).OK(f.t)
		suite.Got(p.Instance()).Fails(f.t, framework.ErrNotStarted)
		if got := p.Instances(); len(got) > 0 {
			f.t.Errorf("instances %v", got)
		}
		suite.OK(f.t, f.registry.Close(f.t.Context()))
		suite.WantErr(f.t, p.Start(f.t.Context()), framework.ErrClosed)
	})
}
