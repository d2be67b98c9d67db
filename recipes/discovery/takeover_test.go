package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/nodes"
)

func started(t *testing.T, c *framework.Client, base string, opts ...discovery.Option) *discovery.ServiceDiscovery[string] {
	t.Helper()
	d, err := discovery.NewServiceDiscovery(c, base, discovery.JSON[string](), opts...)
	if err == nil {
		err = d.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A process whose instance another one has taken over leaves the node alone, and has its own instance again,
// with its own address, when the other one goes.
func TestTakenOverMeanwhile(t *testing.T) {
	for name, opts := range map[string][]discovery.Option{"": nil, "watched": {discovery.WithWatchInstances()}} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				instance := func(address string) discovery.ServiceInstance[string] {
					return discovery.ServiceInstance[string]{Name: "orders", ID: "x", Address: address, Port: 1}
				}
				var all []*discovery.ServiceDiscovery[string]
				for _, address := range []string{"a", "b"} {
					client, _ := b.Client(t)
					d := started(t, client, b.Path("s"), opts...)
					suite.Got(d.Register(t.Context(), instance(address))).OK(t)
					all = append(all, d)
				}
				want := func(address string) {
					t.Helper()
					time.Sleep(time.Minute)
					synctest.Wait()
					if got, err := all[0].QueryForInstance(t.Context(), "orders", "x"); err != nil || got.Address != address {
						t.Errorf("the address is %q, want %q: %v", got.Address, address, err)
					}
				}
				want("b")
				if err := all[0].Update(t.Context(), instance("a2")); !errors.Is(err, nodes.ErrPending) {
					t.Errorf("Update returned %v", err)
				}
				want("b")
				if err := all[1].Close(t.Context()); err != nil {
					t.Error(err)
				}
				want("a2")
				if err := all[0].Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What a cut-off Close waits for is waited for at the same time.
func TestCloseCutOff(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, network := b.Client(t)
		d := started(t, client, b.Path("s"))
		for i := range 5 {
			name := fmt.Sprint("orders", i)
			p, err := d.Provider(name, discovery.ProviderConfig[string]{})
			if err == nil {
				err = p.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			suite.Got(d.Register(t.Context(), discovery.ServiceInstance[string]{Name: name, Address: "a", Port: 1})).OK(t)
		}
		defer network.Isolate()()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if err := d.Close(ctx); err == nil {
			t.Error("Close has unregistered instances without a connection")
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("Close took %v", took)
		}
	})
}

// An instance that is registered again while a Start that failed takes the others back is not
// forgotten.
func TestRegisterWhileStartFails(t *testing.T) {
	virtual(t, func(f *fixture) {
		const n = 60
		f.service()
		var want []string
		for i := range n {
			id := fmt.Sprintf("%02d", i)
			f.register(of(id, "a"))
			want = append(want, id+"=b")
		}
		ctx, cancel := context.WithCancel(f.t.Context())
		defer cancel()
		var heal func()
		for i := range n / 2 {
			var then func()
			if i == n/2-1 {
				then = func() {
					heal = f.network.Isolate() // so that it takes a second to take an instance back
					cancel()
				}
			}
			f.network.On(jute.OpCreate2, suite.Late, then)
		}
		failed := make(chan error, 1)
		go func() { failed <- f.registry.Start(ctx) }()
		time.Sleep(1500 * time.Millisecond) // Start has given up, and takes back what it has registered
		synctest.Wait()
		var again sync.WaitGroup
		for i := range n {
			again.Go(func() {
				id := fmt.Sprintf("%02d", i)
				ctx, cancel := context.WithTimeout(f.t.Context(), 100*time.Millisecond)
				defer cancel()
				_ = f.registry.Unregister(ctx, "orders", id) // it may wait for Start
				if _, err := f.registry.Register(f.t.Context(), of(id, "b")); err != nil {
					f.t.Error(err)
				}
			})
		}
		again.Wait()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			f.t.Fatalf("Start returned %v", err)
		}
		heal()
		f.start()
		f.until(want...)
	})
}
