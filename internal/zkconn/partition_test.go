package zkconn_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

var partitions = flag.Int("partitions", 30, "how many clients TestPartitions cuts off")

// gate is a network that can be cut, in each direction.
type gate struct{ toServer, toClient atomic.Bool }

func (g *gate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return &gatedConn{conn, g}, err
}

type gatedConn struct {
	net.Conn
	gate *gate
}

// Write sends p, or loses it on its way.
func (c *gatedConn) Write(p []byte) (int, error) {
	if c.gate.toServer.Load() && len(p) > 0 {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// Read receives what is not lost on its way.
func (c *gatedConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.gate.toClient.Load() {
			return n, err
		}
	}
}

// partitioned is a client that is cut off.
type partitioned struct {
	direction string
	deadline  time.Time // by its own clock, when it was cut off
	doubted   time.Time // when its monitor said so
	deleted   time.Time // when an observer saw its node go: it could have been a lock's
}

// TestPartitions cuts clients off a real server at moments all over their timeouts, in both directions
// and in each alone, and compares when they stop believing in their sessions with when the server deletes
// their nodes. Run it with -partitions 1000 -v for the distribution.
func TestPartitions(t *testing.T) {
	const tick = 500 * time.Millisecond
	const patience = time.Minute // of the observer
	server := curatortest.Real(t, curatortest.WithTickTime(tick), curatortest.WithSessionTimeouts(2*tick, patience))
	observer := opened(t, server.ConnectString(), new(net.Dialer).DialContext, patience, func(zkconn.Event) {})
	const atOnce = 50
	var timeouts sync.WaitGroup
	for _, sessionTimeout := range []time.Duration{2 * tick, 4 * tick} {
		timeouts.Go(func() {
			var all []*partitioned
			for done := 0; done < *partitions/2; done += atOnce {
				var mu sync.Mutex
				var running sync.WaitGroup
				n := min(atOnce, *partitions/2-done)
				for i := range n {
					running.Go(func() {
						after := sessionTimeout * time.Duration(i) / time.Duration(n)
						p, err := partition(t, server.ConnectString(), observer, sessionTimeout, after, i)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						defer mu.Unlock()
						all = append(all, p)
					})
				}
				running.Wait()
			}
			report(t, sessionTimeout, all)
		})
	}
	timeouts.Wait()
}

func opened(t *testing.T, server string, dial dialFunc, sessionTimeout time.Duration, onEvent func(zkconn.Event)) *zkconn.Conn {
	conn, err := zkconn.Open(t.Context(), zkconn.Config{
		Servers: []string{server}, SessionTimeout: sessionTimeout, ConnectionTimeout: 20 * time.Second,
		LossPercent: 100, MaxRequest: 1 << 20, MaxReply: 16 << 20, Dial: dial,
		Logger: slog.New(slog.DiscardHandler), OnEvent: onEvent,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // one that is cut off leaves its session
	})
	return conn
}

// victim is a client with an ephemeral node.
type victim struct {
	gate    gate
	conn    *zkconn.Conn
	session int64
	doubts  chan time.Time // when its monitor said that the deadline has passed; closed at the end of the session
	deleted chan time.Time // when the observer saw its node go
}

// newVictim opens a client in use, and has an observer watch the node of it. It opens another one if the session is lost
// before that, which happens to a short one on a busy machine: then there is nothing yet to cut off. Ten lost ones are an
// error.
func newVictim(t *testing.T, server string, observer *zkconn.Conn, sessionTimeout time.Duration) (*victim, error) {
	var lost error
	for range 10 {
		v := &victim{doubts: make(chan time.Time, 100), deleted: make(chan time.Time, 1)}
		ended := false
		v.conn = opened(t, server, v.gate.dial, sessionTimeout, func(e zkconn.Event) {
			switch {
			case ended: // what follows is of another session
			case e.Kind == zkconn.DeadlinePassed:
				v.doubts <- time.Now()
			case e.Kind == zkconn.SessionEnded:
				ended = true
				close(v.doubts)
			}
		})
		v.conn.Use() // as one that holds a lock: without it there are no proofs, and no deadline to come
		made, res := create(fmt.Sprintf("/p%d-", sessionTimeout), jute.FlagEphemeral|jute.FlagSequential)
		err := cmp.Or(v.conn.Do(t.Context(), 0, made), made.Err)
		if errors.Is(err, zkconn.ErrConnectionLoss) || errors.Is(err, zkconn.ErrSessionExpired) {
			v.conn.Unuse()
			lost = err
			continue
		}
		if err != nil {
			return nil, err
		}
		v.session = made.Session
		watch := zkconn.NewWatch(res.Path, zkconn.WatchData, func(zkconn.WatchEvent) { v.deleted <- time.Now() })
		seen := reading(res.Path, watch, zkconn.WatchData)
		if err := cmp.Or(observer.Do(t.Context(), 0, seen), seen.Err); !errors.Is(err, zkconn.ErrNoNode) {
			return v, err
		}
		v.conn.Unuse()
		lost = zkconn.ErrSessionExpired
	}
	return nil, lost
}

// partition opens a client with an ephemeral node, cuts it off after a time, and waits for both ends.
func partition(t *testing.T, server string, observer *zkconn.Conn, sessionTimeout, after time.Duration, i int) (*partitioned, error) {
	p := &partitioned{direction: []string{"both", "to the server", "to the client"}[i%3]}
	v, err := newVictim(t, server, observer, sessionTimeout)
	if err != nil {
		return nil, err
	}
	defer v.conn.Unuse()
	<-time.After(after) // it pings, and is cut off at some moment between
	v.gate.toServer.Store(p.direction != "to the client")
	v.gate.toClient.Store(p.direction != "to the server")
	p.deadline, _ = v.conn.Deadline(v.session)
	cut := time.Now()
	for doubt := range v.doubts {
		if p.doubted.Before(cut) { // on a slow machine there may have been others before
			p.doubted = doubt
		}
	}
	p.deleted = <-v.deleted
	return p, nil
}

// report checks the outcomes and prints their distribution.
func report(t *testing.T, sessionTimeout time.Duration, all []*partitioned) {
	early := map[string][]time.Duration{}
	for _, p := range all {
		if !p.deadline.Before(p.deleted) {
			t.Errorf("%s: the deadline is %v after the node was deleted", p.direction, p.deadline.Sub(p.deleted))
		}
		if !p.doubted.IsZero() { // a machine that stands still may see the end of the session first
			early[p.direction] = append(early[p.direction], p.deleted.Sub(p.doubted))
		}
	}
	if len(early) == 0 {
		t.Errorf("sessions of %v: no client was told that its deadline has passed", sessionTimeout)
	}
	for direction, d := range early {
		slices.Sort(d)
		t.Logf("sessions of %v, cut %s: %d, told before the node was deleted by %v at least, %v in the median, %v at most",
			sessionTimeout, direction, len(d), d[0].Round(time.Millisecond), d[len(d)/2].Round(time.Millisecond), d[len(d)-1].Round(time.Millisecond))
	}
}
