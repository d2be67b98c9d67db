package shared_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

// A reader whose watch somebody else has removed, with all of the client's, sets it again.
func TestWatchRemovedByOthers(t *testing.T) {
	onServers(t, func(e *env) {
		e.set(3)
		e.start()
		suite.OK(e.t, e.client.Watches().Remove().ForPath(e.t.Context(), e.path, nil))
		e.set(4)
		e.until(4)
		e.wantWatches(1)
		e.close(e.t.Context())
		e.wantWatches(0)
	})
}

// It follows a node that is there, with its sign, its version and what orders it.
func TestFollow(t *testing.T) {
	onServers(t, func(e *env) {
		e.set(3)
		e.start()
		if n := e.count.Count(); n != 3 {
			e.t.Fatalf("the count is %d after Start", n)
		}
		for _, n := range []int32{0, -1, 1 << 30, -1 << 31} {
			stat := e.set(n)
			e.until(int(n))
			want := shared.VersionedValue[int]{Value: int(n), Version: stat.Version, Zxid: stat.Mzxid}
			if got := e.count.VersionedValue(); got != want {
				e.t.Fatalf("known is %+v, want %+v", got, want)
			}
		}
		suite.Eventually(e.t, "the listener to hear of all", func() bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return len(e.told) == 4
		})
		e.wantWatches(1)
		e.close(e.t.Context())
		e.wantWatches(0)
		e.set(1)
		if n := e.count.Count(); n != -1<<31 {
			e.t.Errorf("the count is %d after Close", n)
		}
	})
}

// The value that Start reads is no change: neither one that is there nor the seed. What comes after it is.
func TestFirstValueIsNoChange(t *testing.T) {
	for name, there := range map[string]bool{"there": true, "seed": false} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				client, _ := b.Client(t)
				count := suite.Got(shared.NewCount(client, b.Path("count"), 1)).OK(t)
				if there {
					other, err := shared.NewCount(client, b.Path("count"), 7)
					if err == nil {
						err = other.Start(t.Context())
					}
					if err != nil {
						t.Fatal(err)
					}
					defer other.Close(t.Context())
				}
				var mu sync.Mutex
				var told []int
				var values []int
				count.CountListenable().Add(func(_ context.Context, n int) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, n)
				})
				count.Listenable().Add(func(_ context.Context, v shared.VersionedValue[int]) {
					mu.Lock()
					defer mu.Unlock()
					values = append(values, v.Value)
				})
				suite.OK(t, count.Start(t.Context()))
				time.Sleep(time.Minute)
				synctest.Wait()
				suite.Got(count.Set(t.Context(), 9)).OK(t)
				suite.OK(t, count.Close(t.Context()))
				if want := []int{9}; !slices.Equal(told, want) || !slices.Equal(values, want) {
					t.Errorf("told %v and %v, want %v", told, values, want)
				}
			})
		})
	}
}

// A node that comes later is followed; one that goes leaves its last count.
func TestMissingNode(t *testing.T) {
	onServers(t, func(e *env) {
		e.start()
		if v := e.count.VersionedValue(); v.Value != seed || v.Version != -1 || v.Zxid != -1 {
			e.t.Fatalf("without a node: %+v", v)
		}
		e.set(1)
		e.until(1)
		suite.OK(e.t, e.writer.Delete().ForPath(e.t.Context(), e.path))
		e.set(2)
		e.until(2) // although its version is 0 again
		suite.OK(e.t, e.writer.Delete().ForPath(e.t.Context(), e.path))
		e.set(2)
		e.set(3)
		e.until(3)
	})
}

// warnings counts the lines of a log.
type warnings struct{ n atomic.Int32 }

func (w *warnings) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("shared value not read")) {
		w.n.Add(1)
	}
	return len(line), nil
}

// What is no count leaves the last one, and is heard of once in a row.
func TestNotACount(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		var log warnings
		e := newEnvOn(t, b, []framework.Option{framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, shared.WithoutCreate())
		malformed := [][]byte{nil, {0, 0, 1}, {0, 0, 0, 0, 1}, []byte("no")}
		for _, data := range malformed {
			e.write(data)
			if err := e.count.Start(t.Context()); !errors.Is(err, codec.ErrDecode) {
				t.Fatalf("Start with %q: %v", data, err)
			}
			e.wantWatches(0)
		}
		e.set(4)
		e.start()
		for i, data := range malformed {
			e.write(data)
			suite.Eventually(t, "a warning", func() bool { return log.n.Load() == int32(i+1) })
			e.write(append(data, 1, 2, 3, 4, 5))
			if n := e.count.Count(); n != 4+i {
				t.Errorf("the count is %d with %q, want %d", n, data, 4+i)
			}
			e.set(int32(5 + i))
			e.until(5 + i)
		}
		if n := log.n.Load(); n != int32(len(malformed)) {
			t.Errorf("%d warnings", n)
		}
	})
}

// Changes that come while the client is cut off, or between two sessions, are found.
func TestOutages(t *testing.T) {
	t.Parallel()
	onServers(t, func(e *env) {
		e.set(1)
		e.start()
		for n := 2; n < 5; n++ {
			heal := e.network.Isolate()
			e.set(int32(n))
			heal()
			e.until(n)
		}
		e.network.Expire(e.t)
		e.set(5)
		e.until(5)
		e.set(6)
		e.until(6)
		suite.Eventually(e.t, "one watch", func() bool {
			conn, err := zkclient.Of(e.client).Conn()
			return err == nil && conn.Watches() == 1
		})
	})
}

// A read that fails, with a client that tries nothing twice, is repeated after a pause.
func TestFailedReads(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, shared.WithoutCreate())
		client, err := framework.NewClient(b.ConnectString(), retry.None(), framework.WithDialer(e.network.Dial),
			framework.WithLogger(slog.New(slog.DiscardHandler)), framework.WithoutEnsembleTracker())
		if err == nil {
			err = client.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(t.Context())
		count := suite.Got(shared.NewCount(client, e.path, seed, shared.WithoutCreate())).OK(t)
		e.set(1)
		suite.OK(t, count.Start(t.Context()))
		defer count.Close(t.Context())
		before := e.network.Requests(jute.OpGetData)
		e.network.On(jute.OpGetData, suite.CutBefore, nil)
		start := time.Now()
		e.set(2)
		suite.Eventually(t, "the count", func() bool { return count.Count() == 2 })
		if n := e.network.Requests(jute.OpGetData) - before; n != 2 || time.Since(start) < time.Second {
			t.Errorf("%d reads in %v, want one that fails, and a second later one that does not", n, time.Since(start))
		}
	})
}

// Many changes at once end in the last one, with fewer reads than changes.
func TestFastChanges(t *testing.T) {
	onServers(t, func(e *env) {
		e.start()
		const changes = 200
		ops := make([]framework.Op, changes)
		e.set(0)
		e.until(0)
		before := e.network.Requests(jute.OpGetData)
		for i := range ops {
			ops[i] = e.writer.TransactionOp().SetData().ForPath(e.path, binary.BigEndian.AppendUint32(nil, uint32(i+1)))
		}
		suite.Got(e.writer.Transaction().ForOperations(e.t.Context(), ops...)).OK(e.t)
		e.until(changes)
		if n := e.network.Requests(jute.OpGetData) - before; n > changes/2 {
			e.t.Errorf("%d reads of %d changes", n, changes)
		}
	})
}

// Start that fails has begun nothing; it may be tried again, but not once it succeeded.
func TestStart(t *testing.T) {
	onServers(t, func(e *env) {
		heal := e.network.Isolate()
		ctx, cancel := context.WithTimeout(e.t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := e.count.Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
			e.t.Fatalf("Start without a server: %v", err)
		}
		heal()
		e.start()
		if err := e.count.Start(e.t.Context()); !errors.Is(err, framework.ErrAlreadyStarted) {
			e.t.Errorf("a second Start: %v", err)
		}
		e.close(e.t.Context())
		if err := e.count.Start(e.t.Context()); !errors.Is(err, framework.ErrClosed) {
			e.t.Errorf("Start after Close: %v", err)
		}
	})
}

// Close ends a Start that is under way, and works with a context that has ended.
func TestClose(t *testing.T) {
	onServers(t, func(e *env) {
		ended, cancel := context.WithCancel(e.t.Context())
		cancel()
		heal := e.network.Isolate()
		started := make(chan error, 1)
		begun := make(chan struct{})
		go func() {
			close(begun)
			started <- e.count.Start(e.t.Context())
		}()
		<-begun
		e.close(ended)
		if err := <-started; !errors.Is(err, framework.ErrClosed) {
			e.t.Fatalf("Start, closed: %v", err)
		}
		heal()
		e.untilConnected()
		e.wantWatches(0)

		count, err := shared.NewCount(e.client, e.path, seed, shared.WithoutCreate())
		if err == nil {
			err = count.Start(e.t.Context())
		}
		if err != nil {
			e.t.Fatal(err)
		}
		e.wantWatches(1)
		var closing sync.WaitGroup
		for range 3 {
			closing.Go(func() {
				if err := count.Close(ended); err != nil {
					e.t.Error(err)
				}
			})
		}
		closing.Wait()
		e.wantWatches(0)
	})
}

// A client that is closed ends the reader's work; its own Close still works.
func TestClientClosed(t *testing.T) {
	onServers(t, func(e *env) {
		e.set(2)
		e.start()
		suite.OK(e.t, e.client.Close(e.t.Context()))
		e.close(e.t.Context())
		if n := e.count.Count(); n != 2 {
			e.t.Errorf("the count is %d", n)
		}
	})
}

// When the servers have lost their data, zxids and versions begin again at the bottom. The count follows what
// there is then, also if the new zxids are lower than the old ones, and Set and Update work.
func TestDataLost(t *testing.T) {
	for name, act := range map[string]func(e *env){
		"another client sets it": func(e *env) {
			e.set(41)
			e.until(41)
		},
		"Set": func(e *env) {
			now, err := e.count.Set(e.t.Context(), 42)
			if err != nil || now.Value != 42 || e.count.Count() != 42 || e.onServer() != 42 {
				e.t.Errorf("%v, %v; the count is %d, on the server %d", now, err, e.count.Count(), e.onServer())
			}
		},
		"Update": func(e *env) {
			e.set(5) // it has the version of a value that is lost
			now, err := e.count.Update(e.t.Context(), func(n int) (int, error) { return n + 1, nil })
			if err != nil || now.Value != 6 || e.count.Count() != 6 {
				e.t.Errorf("%v, %v; the count is %d", now, err, e.count.Count())
			}
		},
		"Update without a node": func(e *env) {
			now, err := e.count.Update(e.t.Context(), func(n int) (int, error) { return n + 1, nil })
			if err != nil || now.Value != 21 || e.onServer() != 21 { // the last value stays without a node
				e.t.Errorf("%v, %v; on the server there is %d", now, err, e.onServer())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, shared.WithoutCreate())
				for n := range 20 {
					e.set(int32(n + 1))
				}
				e.delete()
				e.set(20)
				e.start()
				e.until(20)
				b.Server().RestartEmpty()
				<-time.After(10 * suite.SessionTimeout)
				e.untilConnected()
				act(e)
			})
		})
	}
}
