package framework_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

var manyWatches = flag.Int("watches", 3000, "how many watches TestManyWatches has")

// TestManyWatches sets many watches, persistent ones and others, has the connection break, and
// sees that every watcher is told and that the persistent ones are set again. It logs what
// docs/scaling.md states for 100,000 ("make framework-watches").
func TestManyWatches(t *testing.T) {
	t.Parallel()
	server := patient(t)
	for _, persistent := range []bool{true, false} {
		t.Run(fmt.Sprintf("persistent %v", persistent), func(t *testing.T) {
			conns := make(chan net.Conn, 10)
			opts := []framework.Option{
				framework.WithSessionTimeout(patience), framework.WithoutEnsembleTracker(),
				framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, address)
					if err == nil {
						conns <- conn
					}
					return conn, err
				}),
			}
			client := curatortest.NewClient(t, server.ConnectString(), opts...)
			if err := client.BlockUntilConnected(t.Context()); err != nil {
				t.Fatal(err)
			}
			heap := heapInUse()
			var told atomic.Int64
			begun := time.Now()
			setWatches(t, client, persistent, &told)
			t.Logf("%d watches in %v, %d bytes each", *manyWatches, time.Since(begun).Round(time.Millisecond),
				(int64(heapInUse())-int64(heap))/int64(*manyWatches))

			before := client.SessionID()
			other := curatortest.NewClient(t, server.ConnectString(), opts...)
			if err := other.BlockUntilConnected(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range len(conns) { // not those that the client makes meanwhile
				(<-conns).Close()
			}
			begun = time.Now()
			var first, longest, reference time.Duration
			var reads errgroup.Group
			reads.Go(func() (err error) {
				reference, _, err = readUntil(t.Context(), other, func() bool { return true })
				return err
			})
			reads.Go(func() (err error) {
				first, longest, err = readUntil(t.Context(), client, func() bool { return told.Load() == int64(*manyWatches) })
				return err
			})
			if err := reads.Wait(); err != nil {
				t.Fatal(err)
			}
			t.Logf("all were told of the reconnect after %v; the first read took %v, that of a client without watches %v, and the longest one behind it %v",
				time.Since(begun).Round(time.Millisecond), first, reference, longest)
			if client.SessionID() != before {
				t.Error("the session was lost")
			}
			if persistent {
				wantSetAgain(t, client, &told)
			}
		})
	}
}

// setWatches sets the watches on nodes that are not there, many at the same time.
func setWatches(t *testing.T, client *framework.Client, persistent bool, told *atomic.Int64) {
	t.Helper()
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(256)
	for i := range *manyWatches {
		g.Go(func() error {
			watcher := framework.NewWatcher(func(context.Context, framework.WatchedEvent) { told.Add(1) })
			if persistent {
				return client.Watches().Add().ForPath(ctx, watched(i), watcher)
			}
			_, err := client.CheckExists().UsingWatcher(watcher).ForPath(ctx, watched(i))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func watched(i int) string { return fmt.Sprintf("/watched-%07d", i) }

// readUntil reads until done, one read after the other. It returns how long the first read took,
// which waits for the connection, and how long the longest one of those behind it.
func readUntil(ctx context.Context, client *framework.Client, done func() bool) (first, longest time.Duration, err error) {
	for reads := 0; !done() || reads < 2; reads++ {
		begun := time.Now()
		if _, err := client.CheckExists().ForPath(ctx, "/"); err != nil {
			return first, longest, err
		}
		if took := time.Since(begun).Round(time.Microsecond); reads == 0 {
			first = took
		} else {
			longest = max(longest, took)
		}
	}
	return first, longest, nil
}

// wantSetAgain makes a few of the nodes: their watchers are told.
func wantSetAgain(t *testing.T, client *framework.Client, told *atomic.Int64) {
	t.Helper()
	const nodes = 10
	before := told.Load()
	for i := range nodes {
		if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), watched(i**manyWatches/nodes)); err != nil {
			t.Fatal(err)
		}
	}
	suite.Eventually(t, "the watchers", func() bool { return told.Load() == before+nodes })
}
