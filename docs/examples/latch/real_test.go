package latch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// What a Wait concludes from two readings, and what several processes do together, is the same on the
// embedded server and on a real one.
func TestOnZooKeeper(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) curatortest.ZooKeeper{
		"embedded": func(t *testing.T) curatortest.ZooKeeper { return curatortest.Start(t) },
		"real":     func(t *testing.T) curatortest.ZooKeeper { return curatortest.Real(t) },
	} {
		t.Run(name, func(t *testing.T) {
			zk := start(t)
			t.Run("readings", func(t *testing.T) { testReadings(t, zk) })
			t.Run("faults", func(t *testing.T) { testFaults(t, zk) })
		})
	}
}

func testReadings(t *testing.T, zk curatortest.ZooKeeper) {
	client := zk.Client(t)
	l := New(client, "/latches/readings")
	defer l.Close()
	var before reading
	for _, step := range []struct {
		name string
		do   []func(context.Context) error
		want bool // the latch was set in this step
	}{
		{"nothing", nil, false},
		{"set and reset", []func(context.Context) error{l.Set, l.Reset}, true},
		{"reset", []func(context.Context) error{l.Reset}, false},
		{"set twice and reset", []func(context.Context) error{l.Set, l.Set, l.Reset}, true},
		{"deleted", []func(context.Context) error{l.destroy}, false},
		{"set and reset, and deleted between", []func(context.Context) error{l.destroy, l.Set, l.Reset}, true},
		{"reconnected", []func(context.Context) error{func(context.Context) error { zk.Disconnect(); return nil }}, false},
	} {
		for _, do := range step.do {
			if err := do(t.Context()); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
		}
		now, err := l.look(t.Context(), true, nil)
		if err != nil || len(now.children) > 0 {
			t.Fatalf("%s: children %q, %v", step.name, now.children, err)
		}
		if before.dir.Czxid != 0 && now.wasSetSince(before) != step.want {
			t.Errorf("%s: before %+v, now %+v; want that it was set: %t", step.name, before.dir, now.dir, step.want)
		}
		before = now
	}
}

// destroy deletes the directory, as an operator does.
func (l *Latch) destroy(ctx context.Context) error { return l.client.Delete().ForPath(ctx, l.dir) }

func testFaults(t *testing.T, zk curatortest.ZooKeeper) {
	setter := New(zk.Client(t), "/latches/faults")
	defer setter.Close()
	for name, fault := range map[string]func(client *framework.Client){
		"none":         func(*framework.Client) {},
		"disconnect":   func(*framework.Client) { zk.Disconnect() },
		"session ends": func(client *framework.Client) { zk.ExpireSession(client.SessionID()) },
		"restart":      func(*framework.Client) { zk.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 3)
			for range cap(ended) {
				client := zk.Client(t)
				if err := client.BlockUntilConnected(t.Context()); err != nil {
					t.Fatal(err)
				}
				l := New(client, "/latches/faults")
				defer l.Close()
				go func() { ended <- l.Wait(t.Context()) }()
				fault(client)
			}
			if err := setter.Set(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range cap(ended) {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
			if err := setter.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A server that lags behind shows a Wait nothing that was over before it.
func TestLaggingServer(t *testing.T) {
	t.Parallel()
	ensemble := curatortest.RealEnsemble(t, 3)
	leader := ensemble.Leader()
	follower := ensemble.Member(0)
	if follower == leader {
		follower = ensemble.Member(1)
	}
	of := func(m *curatortest.Member) *Latch {
		client := curatortest.NewClient(t, m.ConnectString(), framework.WithoutEnsembleTracker())
		l := New(client, dir)
		t.Cleanup(l.Close)
		if err := l.Reset(t.Context()); err != nil { // both are connected, and the directory is there
			t.Fatal(err)
		}
		return l
	}
	setter, waiter := of(leader), of(follower)
	leader.To(follower).Delay(time.Second)
	if err := errors.Join(setter.Set(t.Context()), setter.Reset(t.Context())); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if err := waiter.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a latch that was reset before: %v", err)
	}
}
