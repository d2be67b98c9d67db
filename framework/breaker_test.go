package framework_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// damped is a client behind a breaker, in virtual time, and what two listeners are told.
type damped struct {
	*testing.T
	server *curatortest.Server
	client *framework.Client

	mu   sync.Mutex
	told [2][]state.ConnectionState
}

func onDamped(t *testing.T, policy retry.Policy, test func(d *damped)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &damped{T: t, server: curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond))}
		var err error
		d.client, err = framework.NewClient(d.server.ConnectString(), retry.None(), framework.WithDialer(d.server.DialContext),
			framework.WithSessionTimeout(2*time.Second), framework.WithCircuitBreaker(policy), framework.WithoutEnsembleTracker())
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.told {
			d.client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.told[i] = append(d.told[i], s)
			})
		}
		if err := d.client.Start(t.Context()); err != nil { // the listeners are told of everything
			t.Fatal(err)
		}
		test(d)
		_ = d.client.Close(t.Context()) // what it says is the business of the test of Close
	})
}

// want checks what both listeners were told since the last time.
func (d *damped) want(what string, want ...state.ConnectionState) {
	d.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, got := range d.told {
		if !slices.Equal(got, want) {
			d.Fatalf("%s: listener %d was told %v, want %v", what, i, got, want)
		}
		d.told[i] = nil
	}
}

// A connection that comes and goes is one suspension for all listeners, while the client
// itself and the recipes know of each.
func TestCircuitBreakerDamps(t *testing.T) {
	onDamped(t, retry.Forever(10*time.Second), func(d *damped) {
		var suspensions atomic.Int32
		remove := zkclient.Of(d.client).OnLoss("", func(l zkclient.Loss) {
			if l.Kind == zkclient.LossSuspended {
				suspensions.Add(1)
			}
		})
		defer remove()
		time.Sleep(time.Second)
		d.want("at the start", state.Connected)
		for range 3 {
			d.server.Disconnect()
			time.Sleep(time.Second)
		}
		d.want("three disconnects", state.Suspended)
		if s := d.client.ConnectionState(); s != state.Reconnected || suspensions.Load() != 3 {
			d.Fatalf("the client is %v, recipes were told of %d suspensions", s, suspensions.Load())
		}
		time.Sleep(10 * time.Second)
		d.want("when the time is over", state.Reconnected)
		d.server.Disconnect()
		d.want("the next disconnect", state.Suspended)
	})
}

// Without a connection the breaker stays open as long as its policy says, and tells of the
// session's end at once.
func TestCircuitBreakerWithoutAServer(t *testing.T) {
	onDamped(t, retry.NTimes(2, 10*time.Second), func(d *damped) {
		time.Sleep(time.Second)
		accept := d.server.Refuse()
		d.server.Disconnect()
		d.want("the disconnect", state.Connected, state.Suspended)
		time.Sleep(5 * time.Second)
		d.want("the end of the session", state.Lost)
		time.Sleep(10 * time.Second) // the second wait has begun
		accept()
		time.Sleep(3 * time.Second)
		d.want("connected again, held back")
		time.Sleep(5 * time.Second)
		d.want("when the second wait is over", state.Reconnected)
	})
}

// Every time that the server goes for long and comes back, all listeners are told the same.
func TestCircuitBreakerInCycles(t *testing.T) {
	onDamped(t, retry.Forever(10*time.Second), func(d *damped) {
		time.Sleep(time.Second)
		d.want("at the start", state.Connected)
		for range 4 {
			accept := d.server.Refuse()
			d.server.Disconnect()
			synctest.Wait()
			time.Sleep(5 * time.Second)
			accept()
			time.Sleep(20 * time.Second)
			d.want("in a cycle", state.Suspended, state.Lost, state.Reconnected)
		}
	})
}

// A policy that gives no time damps nothing.
func TestCircuitBreakerNeverOpens(t *testing.T) {
	onDamped(t, retry.None(), func(d *damped) {
		time.Sleep(time.Second)
		for range 2 {
			d.server.Disconnect()
			time.Sleep(time.Second)
		}
		d.want("two disconnects", state.Connected, state.Suspended, state.Reconnected, state.Suspended, state.Reconnected)
	})
}

// Close does not wait for the breaker, and what it holds back is dropped; synctest sees to
// it that neither its goroutine nor its timer is left.
func TestCircuitBreakerIsClosed(t *testing.T) {
	onDamped(t, retry.Forever(time.Hour), func(d *damped) {
		time.Sleep(time.Second)
		d.server.Disconnect()
		time.Sleep(time.Second)
		begin := time.Now()
		if err := d.client.Close(d.Context()); err != nil {
			d.Fatal(err)
		}
		if took := time.Since(begin); took > 100*time.Millisecond {
			d.Fatalf("Close took %v", took)
		}
		d.want("in all", state.Connected, state.Suspended)
	})
}

func TestCircuitBreakerNeedsAPolicy(t *testing.T) {
	for _, policy := range []retry.Policy{nil, retry.Forever(0), retry.NTimes(-1, time.Second), retry.NTimes(3, 1000)} {
		_, err := framework.NewClient("host", retry.None(), framework.WithCircuitBreaker(policy))
		if !errors.Is(err, framework.ErrInvalidOption) || !errors.Is(err, retry.ErrInvalidPolicy) {
			t.Errorf("policy %#v: %v", policy, err)
		}
	}
	if client, err := framework.NewClient("host", retry.None(), framework.WithCircuitBreaker(retry.None())); err != nil {
		t.Error(err)
	} else if err := client.Close(t.Context()); err != nil { // its breaker was never at work
		t.Error(err)
	}
}
