package discovery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// protected offers instances for a minute after they have left the list.
var protected = discovery.ProviderConfig[string]{EmptyProtection: time.Minute}

// offers checks the ids of what a provider offers.
func (f *fixture) offers(p *discovery.ServiceProvider[string], when, want string) {
	f.t.Helper()
	got := ""
	for _, i := range p.Instances() {
		got += i.ID
	}
	if got != want {
		f.t.Errorf("%s: %q is offered, want %q", when, got, want)
	}
}

// Servers that are well, and are cut off from ZooKeeper for longer than their sessions last, are
// still offered with EmptyProtection, each of them, although their sessions end one by one. Without
// it there is nothing to call until they are back.
func TestServersCutOffFromZooKeeper(t *testing.T) {
	for protection, want := range map[time.Duration]string{0: "", time.Minute: "abc"} {
		virtual(t, func(f *fixture) {
			f.registry.Close(f.t.Context())
			var heals []func()
			var networks []*suite.Network
			for _, id := range []string{"a", "b", "c"} {
				client, network := f.b.Client(f.t)
				r := f.newRegistry(client)
				suite.OK(f.t, r.Start(f.t.Context()))
				suite.Got(r.Register(f.t.Context(), of(id, "x"))).OK(f.t)
				networks = append(networks, network)
			}
			lookup := f.newRegistry(f.operator)
			p := suite.Got(lookup.Provider("orders", discovery.ProviderConfig[string]{EmptyProtection: protection})).OK(f.t)
			suite.OK(f.t, p.Start(f.t.Context()))
			f.offers(p, "before", "abc")
			for _, network := range networks {
				heals = append(heals, network.Isolate())
				settle(300 * time.Millisecond)
			}
			settle(20 * time.Second)
			f.until()
			f.offers(p, "cut off", want)
			if got := picks(f.t, p, 3); want == "" && got != "---" || want != "" && strings.Contains(got, "-") {
				f.t.Errorf("cut off: picked %s", got)
			}
			for _, heal := range heals {
				heal()
			}
			f.until("a=x", "b=x", "c=x")
			f.offers(p, "back", "abc")
		})
	}
}

// Only what has left the list is offered, for the time, while the list has nothing to offer.
func TestEmptyProtection(t *testing.T) {
	virtual(t, func(f *fixture) {
		ctx := f.t.Context()
		f.start()
		config := protected
		config.Filter = func(i instance) bool { return i.Payload != "hidden" }
		p := f.provider(config)
		f.offers(p, "at first", "")
		disabled := of("d", "x")
		disabled.Disabled = true
		for _, i := range []instance{of("a", "x"), of("b", "x"), of("c", "hidden"), disabled} {
			f.register(i)
		}
		f.settled()
		gone := func(id string) {
			suite.OK(f.t, f.registry.Unregister(ctx, "orders", id))
			f.settled()
		}
		gone("a")
		f.offers(p, "one is left", "b")
		settle(30 * time.Second)
		gone("b")
		f.offers(p, "two have gone, others may not be chosen", "ab")
		gone("c")
		gone("d")
		f.offers(p, "the list is empty", "ab")
		p.NoteError(of("a", "x"))
		p.NoteError(of("a", "x"))
		f.offers(p, "one is down", "b")
		settle(27 * time.Second)
		f.offers(p, "the first one went a minute ago", "b")
		settle(20 * time.Second)
		f.offers(p, "51 s after the second one", "b")
		settle(10 * time.Second)
		f.offers(p, "61 s after the second one", "")

		f.register(of("e", "x"))
		f.settled()
		f.offers(p, "another one", "e")
		e := of("e", "x")
		e.Disabled = true
		suite.OK(f.t, f.registry.Update(ctx, e))
		f.settled()
		f.offers(p, "an operator has disabled it", "")
		gone("e")
		f.offers(p, "it has gone while it was disabled", "")

		f.register(of("f", "x"))
		f.settled()
		gone("f")
		f.offers(p, "empty again", "f")
		f.register(of("f", "hidden"))
		f.settled()
		f.offers(p, "it is back, and not accepted", "")
		suite.OK(f.t, f.registry.Close(ctx))
	})
}

// A provider tells of its instances, also when one goes down or comes back, and when a protected
// one has been gone for too long. It ends with its context, and with Close.
func TestProviderUpdates(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		config := protected
		config.DownTime = 10 * time.Second
		p := suite.Got(f.registry.Provider("orders", config)).OK(f.t)
		var got []string
		began := time.Now()
		follow := func(ctx context.Context) chan struct{} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				for list := range p.Updates(ctx) {
					line := fmt.Sprint(time.Since(began).Round(time.Second), texts(list))
					if len(got) == 0 || got[len(got)-1] != line {
						got = append(got, line)
					}
				}
			}()
			return done
		}
		ended, end := context.WithCancel(ctx)
		first := follow(ended)
		settle(time.Second)
		f.start()
		suite.OK(f.t, p.Start(ctx))
		f.register(of("a", "x"))
		settle(time.Second)
		f.register(of("b", "x"))
		settle(time.Second)
		p.NoteError(of("a", "x"))
		p.NoteError(of("a", "x"))
		settle(20 * time.Second)
		suite.OK(f.t, f.registry.Unregister(ctx, "orders", "a"))
		settle(5 * time.Second)
		suite.OK(f.t, f.registry.Unregister(ctx, "orders", "b"))
		settle(2 * time.Minute)
		end()
		<-first
		want := []string{
			"1s [a=x]", "2s [a=x b=x]", "3s [b=x]", "13s [a=x b=x]", "23s [b=x]", "28s [a=x b=x]", "1m23s [b=x]", "1m28s []",
		}
		got = slices.DeleteFunc(got, func(line string) bool { return line == "1s []" }) // the first instance may be quicker
		if !slices.Equal(got, want) {
			t.Errorf("told\n%q, want\n%q", got, want)
		}
		second := follow(ctx)
		settle(time.Second)
		suite.OK(f.t, f.registry.Close(ctx))
		<-second
		for range (*discovery.ServiceProvider[string])(nil).Updates(ctx) {
			t.Error("a nil provider has instances")
		}
		var none context.Context
		for range p.Updates(none) {
			t.Error("a nil context has instances")
		}
	})
}

// What has no address is not offered: nobody could call it. Java's providers offer it.
func TestNoAddressIsNotOffered(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.start()
		f.register(of("a", "x"))
		f.write("b", `{}`)
		f.write("c", `{"name":"orders","id":"c","address":null,"port":80}`)
		p := f.provider(discovery.ProviderConfig[string]{})
		f.offers(p, "two of three have no address", "a")
		f.delete("b")
		f.delete("c")
		f.ended()
	})
}

// Choose is Instance, and also has what is not usable, and what is down.
func TestChoose(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		f.start()
		for _, id := range []string{"a", "b", "c"} {
			f.register(of(id, "x"))
		}
		p := f.provider(discovery.ProviderConfig[string]{Strategy: discovery.Sticky(discovery.RoundRobin[string]()), ErrorThreshold: 1})
		not := func(ids string) func(instance) bool {
			return func(i instance) bool { return !strings.Contains(ids, i.ID) }
		}
		choose := func(when, unusable, want string) {
			t.Helper()
			i, err := p.Choose(not(unusable))
			if (err != nil) != (want == "") || !strings.Contains(want, i.ID) {
				t.Errorf("%s: chose %q, %v, want one of %q", when, i.ID, err, want)
			}
			if err != nil {
				suite.WantErr(t, err, discovery.ErrNoInstance)
			}
		}
		choose("all are usable", "", "a")
		choose("the sticky one is not usable", "a", "bc")
		choose("one is usable", "ac", "b")
		choose("none is usable", "abc", "")
		p.NoteError(of("b", "x"))
		choose("one is down", "", "a")
		choose("one of the others", "a", "c")
		choose("the one that is down", "ac", "b")
		p.NoteError(of("a", "x"))
		p.NoteError(of("c", "x"))
		choose("all are down", "", "abc")
		choose("all but one are not usable", "ab", "c")
		if i, err := p.Choose(nil); err != nil || i.ID == "" {
			t.Errorf("without a condition: %v, %v", i, err)
		}
		if got := picks(t, p, 1); got != "-" {
			t.Errorf("Instance has chosen %s, which is down", got)
		}
		_, err := p.Instance()
		if want := "no instance of the service orders: 3 down"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		f.ended()
	})
	_, err := (*discovery.ServiceProvider[string])(nil).Choose(nil)
	if err == nil {
		t.Error("a nil provider has an instance")
	}
}
