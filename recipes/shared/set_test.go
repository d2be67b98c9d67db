package shared_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/shared"
)

// Start creates the node with the seed, below containers, unless there is one.
func TestSeed(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.start()
		if n := e.onServer(); n != seed || e.count.Count() != seed {
			t.Errorf("the node has %d, the count is %d, want %d", n, e.count.Count(), seed)
		}
		if v := e.count.VersionedValue(); v.Version != 0 || v.Zxid <= 0 {
			t.Errorf("known is %+v", v)
		}
		e.close(t.Context())
		e.set(3)
		other := e.newCount()
		suite.OK(e.t, other.Start(t.Context()))
		if n := e.onServer(); n != 3 || other.Count() != 3 {
			t.Errorf("the node has %d, the count is %d, want 3", n, other.Count())
		}
	})
}

// V1: five clients that set the value one after the other end with the same one, and each sees
// its own at once.
func TestConvergence(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		path := b.Path("value")
		var values []*shared.Value[string]
		for range 5 {
			client, _ := b.Client(t)
			v, err := shared.NewValue(client, path, "seed", codec.String())
			if err == nil {
				err = v.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := v.Close(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
			values = append(values, v)
		}
		var writers sync.WaitGroup
		for i, v := range values {
			writers.Go(func() {
				for n := range 10 {
					want := fmt.Sprint(i, " ", n)
					set, err := v.Set(t.Context(), want)
					if err != nil || set.Value != want || v.VersionedValue().Zxid < set.Zxid {
						t.Errorf("set %+v, %v; known is %+v", set, err, v.VersionedValue())
					}
				}
			})
		}
		writers.Wait()
		suite.Eventually(t, "the same value everywhere", func() bool {
			for _, v := range values {
				if now := v.VersionedValue(); now.Version != 50 || now != values[0].VersionedValue() {
					return false
				}
			}
			return true
		})
	})
}

// V2: a value is set only on the one that was given, which need not be the last one seen.
func TestTrySet(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.start()
		try := func(previous shared.VersionedValue[int], n int, want bool) shared.VersionedValue[int] {
			t.Helper()
			now, set, err := e.count.TrySet(t.Context(), previous, n)
			if err != nil || set != want {
				t.Fatalf("set %t, %v; want %t", set, err, want)
			}
			if server := e.onServer(); now.Value != server || e.count.Count() != server {
				t.Fatalf("now is %+v, known %d, the server has %d", now, e.count.Count(), server)
			}
			return now
		}
		first := e.count.VersionedValue()
		second := try(first, 1, true)
		third := try(second, 2, true)
		if again := try(first, 9, false); again != third {
			t.Errorf("what is there is %+v, want %+v", again, third)
		}
		e.set(5) // by another client
		e.until(5)
		now := try(third, 6, false)
		try(now, 6, true)
		if _, set, err := e.count.TrySet(t.Context(), shared.VersionedValue[int]{Version: -1, Zxid: -1}, 1); set || err != nil {
			t.Errorf("a seed was taken for a node: %t, %v", set, err)
		}
	})
}

// V4: a node's version at the end of its numbers cannot be compared; versions before that are
// negative, and can.
func TestVersionOverflow(t *testing.T) {
	onServers(t, func(e *env) {
		e.set(1)
		e.start()
		before := e.network.Requests(jute.OpSetData)
		_, _, err := e.count.TrySet(e.t.Context(), shared.VersionedValue[int]{Value: 1, Version: -1, Zxid: 1}, 2)
		suite.WantErr(e.t, err, framework.ErrBadVersion)
		if n := e.network.Requests(jute.OpSetData) - before; n != 0 {
			e.t.Errorf("%d requests", n)
		}
		now, set, err := e.count.TrySet(e.t.Context(), shared.VersionedValue[int]{Value: 1, Version: -7, Zxid: 1}, 2)
		if n := e.network.Requests(jute.OpSetData) - before; n != 1 || set || err != nil || now.Value != 1 {
			e.t.Errorf("%d requests, set %t, %v, now %+v", n, set, err, now)
		}
	})
}

// A node that is gone is made again: by Set, and by TrySet with what TrySet has returned.
func TestSetWithoutNode(t *testing.T) {
	onServers(t, func(e *env) {
		e.start()
		now, set, err := e.count.TrySet(e.t.Context(), e.count.VersionedValue(), 1)
		if err != nil || !set {
			e.t.Fatalf("from the seed: %t, %v", set, err)
		}
		e.delete()
		gone, set, err := e.count.TrySet(e.t.Context(), now, 2)
		if err != nil || set || gone.Zxid != -1 || gone.Value != 1 {
			e.t.Fatalf("without a node: %+v, %t, %v", gone, set, err)
		}
		if _, set, err = e.count.TrySet(e.t.Context(), gone, 2); err != nil || !set {
			e.t.Fatalf("made again: %t, %v", set, err)
		}
		e.delete()
		suite.Got(e.count.Set(e.t.Context(), 3)).OK(e.t)
		e.delete()
		v, err := e.count.Update(e.t.Context(), func(n int) (int, error) { return n + 1, nil })
		if err != nil || v.Value != 4 || e.onServer() != 4 {
			e.t.Fatalf("updated: %+v, %v, the server has %d", v, err, e.onServer())
		}
	})
}

// Several processes that add lose none.
func TestUpdate(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.start()
		const writers, rounds = 4, 10
		var adding sync.WaitGroup
		for range writers {
			client, _ := b.Client(t)
			count, err := shared.NewCount(client, e.path, seed)
			if err == nil {
				err = count.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.closeCount(context.WithoutCancel(t.Context()), count) })
			adding.Go(func() {
				for range rounds {
					if _, err := count.Update(t.Context(), func(n int) (int, error) { return n + 1, nil }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		adding.Wait()
		if n := e.onServer(); n != seed+writers*rounds {
			t.Errorf("the sum is %d, want %d", n, seed+writers*rounds)
		}
		e.until(seed + writers*rounds)
		mine := errors.New("mine")
		_, err := e.count.Update(t.Context(), func(int) (int, error) { return 0, mine })
		suite.WantErr(e.t, err, mine)
	})
}

// A change costs one write, and a process that follows one event and one read.
func TestRequests(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.start()
		other := newEnvAt(t, b, e.path)
		other.start()
		writes, reads := e.network.Requests(jute.OpSetData), other.network.Requests(jute.OpGetData)
		for n := range 5 {
			suite.Got(e.count.Set(t.Context(), 100+n)).OK(e.t)
			other.until(100 + n)
		}
		if n := e.network.Requests(jute.OpSetData) - writes; n != 5 {
			t.Errorf("%d writes of 5 changes", n)
		}
		if n := other.network.Requests(jute.OpGetData) - reads; n != 5 {
			t.Errorf("%d reads of 5 changes", n)
		}
	})
}
