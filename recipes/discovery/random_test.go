package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// Whatever happens, in the end what is registered is there, and nothing else.
func TestRandomHistories(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			virtual(t, func(f *fixture) {
				random := rand.New(rand.NewPCG(seed, 0))
				cache := f.cached()
				known := map[string]string{} // payloads by ids
				f.start()
				for step := range 40 {
					f.step(random, step, known)
				}
				want := []string{}
				for _, id := range slices.Sorted(maps.Keys(known)) {
					want = append(want, id+"="+known[id])
				}
				f.until(want...)
				f.expire()
				f.until(want...)
				f.shows(cache, want...)
				suite.OK(f.t, f.registry.Close(f.t.Context()))
				f.until()
			})
		})
	}
}

// step does something at random: an operation on an instance, a fault, or something by an operator.
func (f *fixture) step(random *rand.Rand, step int, known map[string]string) {
	f.t.Helper()
	id := string(rune('a' + random.IntN(4)))
	i := of(id, fmt.Sprint(step))
	i.Type = discovery.ServiceType(random.IntN(2)) // Dynamic or Static
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Duration(random.IntN(100))*time.Millisecond)
	defer cancel()
	switch random.IntN(12) {
	case 0, 1, 2, 3:
		if _, err := f.registry.Register(ctx, i); err != nil { // in doubt, so ask for it again
			f.register(i)
		}
		known[id] = i.Payload
	case 4, 5:
		if err := f.registry.Unregister(ctx, "orders", id); err != nil {
			suite.OK(f.t, f.registry.Unregister(f.t.Context(), "orders", id))
		}
		delete(known, id)
	case 6:
		f.network.Cut()
	case 7:
		f.network.Expire(f.t)
	case 8:
		time.AfterFunc(time.Duration(random.IntN(3000))*time.Millisecond, f.network.Isolate())
	case 9:
		err := f.operator.Delete().ForPath(f.t.Context(), f.path(id))
		if err != nil && !errors.Is(err, framework.ErrNoNode) {
			f.t.Fatal(err)
		}
	case 10:
		settle(time.Duration(random.IntN(1000)) * time.Millisecond)
	case 11:
		f.network.Lag()
	}
}

// No end of a session brings back an instance that is unregistered at the same time.
func TestUnregisterRace(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture) {
		rounds := 3
		if f.b.Virtual {
			rounds = 50
		}
		f.start()
		for range rounds {
			f.register(of("a", "x"))
			f.register(of("b", "x"))
			unregistered := make(chan error, 1)
			go func() { unregistered <- f.registry.Unregister(context.WithoutCancel(f.t.Context()), "orders", "a") }()
			f.expire()
			suite.OK(f.t, <-unregistered)
			f.untilNode("b")
			f.until("b=x")
		}
		f.ended()
	})
}

// A program may come up before its servers.
func TestNoServer(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.register(of("a", "x"))
		heal := f.network.Isolate()
		ctx, cancel := context.WithCancel(f.t.Context())
		ran := make(chan error, 1)
		go func() { ran <- framework.Run(ctx, f.registry) }()
		settle(time.Minute)
		heal()
		f.untilOwned("a", "x")
		cancel()
		suite.OK(f.t, <-ran)
		f.until()
		suite.Eventually(f.t, "the end of the registry", func() bool {
			return errors.Is(f.registry.Start(f.t.Context()), framework.ErrClosed)
		})
	})
}
