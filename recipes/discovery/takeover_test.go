package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
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
					if _, err := d.Register(t.Context(), instance(address)); err != nil {
						t.Fatal(err)
					}
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
			if _, err := d.Register(t.Context(), discovery.ServiceInstance[string]{Name: name, Address: "a", Port: 1}); err != nil {
				t.Fatal(err)
			}
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
