package framework_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// nodesBelow yields the paths of n children of a node, of which the first ones may exist.
func nodesBelow(dir string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprintf("%s/%05d", dir, i)) {
				return
			}
		}
	}
}

// forever yields "/" for ever.
func forever(yield func(string) bool) {
	for yield("/") {
	}
}

// createBelow makes n children of a node, with their numbers as data.
func createBelow(t *testing.T, c *framework.Client, dir string, n int) {
	t.Helper()
	if _, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	var ops []framework.Op
	for path := range nodesBelow(dir, n) {
		ops = append(ops, c.TransactionOp().Create().WithData([]byte(path[len(dir)+1:])).ForPath(path))
	}
	if _, err := c.Transaction().ForOperations(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
}

// Every node is read, in order, and each path has an error of its own.
func TestReadMany(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		dir := b.Path("many")
		const there, n = 700, 1000
		createBelow(t, c, dir, there)
		if _, err := c.Create().ForPath(t.Context(), dir+"/00003/child"); err != nil {
			t.Fatal(err)
		}
		for _, what := range [][]framework.ReadPart{
			nil, {framework.ReadData}, {framework.ReadStat}, {framework.ReadChildren}, {framework.ReadChildren, framework.ReadData},
		} {
			i := 0
			for path, read := range c.ReadMany(t.Context(), nodesBelow(dir, n), what...) {
				name := fmt.Sprintf("%05d", i)
				want := framework.Read{Stat: read.Stat}
				if i < there && (what == nil || slices.Contains(what, framework.ReadData)) {
					want.Data = []byte(name)
				}
				if i == 3 && slices.Contains(what, framework.ReadChildren) {
					want.Children = []string{"child"}
				}
				switch known := path == dir+"/"+name && string(read.Data) == string(want.Data) && slices.Equal(read.Children, want.Children); {
				case !known, i < there && (read.Err != nil || read.Stat.DataLength != 5), i >= there && !errors.Is(read.Err, framework.ErrNoNode):
					t.Fatalf("%v, number %d: %s, %+v", what, i, path, read)
				}
				i++
			}
			if i != n {
				t.Errorf("%v: %d nodes of %d", what, i, n)
			}
		}
	})
}

// Wrong paths are refused without a request, and what is wrong with the call itself ends the sequence.
func TestReadManyMistakes(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		paths := slices.Values([]string{"/", "relative", "/" + string(make([]byte, 1)), "/" + longName, "/zookeeper"})
		var errs []error
		for path, read := range f.client.ReadMany(f.Context(), paths, framework.ReadStat) {
			if read.Err != nil && !errors.As(read.Err, new(*framework.OpError)) {
				f.Errorf("%.20s: %v", path, read.Err)
			}
			errs = append(errs, read.Err)
		}
		for i, want := range []error{nil, framework.ErrInvalidPath, framework.ErrInvalidPath, framework.ErrTooLarge, nil} {
			if !errors.Is(errs[i], want) {
				f.Errorf("%d: %v, want %v", i, errs[i], want)
			}
		}
		f.wantSent("exists /", "exists /zookeeper")
		closed := f.server.Client(f.T)
		if err := closed.Close(f.Context()); err != nil {
			f.Fatal(err)
		}
		var none context.Context
		for name, wrong := range map[string]struct {
			reads iter.Seq2[string, framework.Read]
			path  string
			want  error
		}{
			"no client":  {(*framework.Client)(nil).ReadMany(f.Context(), forever), "/", framework.ErrNotStarted},
			"zero":       {new(framework.Client).ReadMany(f.Context(), forever), "/", framework.ErrNotStarted},
			"closed":     {closed.ReadMany(f.Context(), forever), "/", framework.ErrClosed},
			"no context": {f.client.ReadMany(none, forever), "/", framework.ErrInvalidOption},
			"no paths":   {f.client.ReadMany(f.Context(), nil), "", framework.ErrInvalidOption},
			"no part":    {f.client.ReadMany(f.Context(), forever, 0), "/", framework.ErrInvalidOption},
		} {
			n := 0
			for path, read := range wrong.reads {
				if n++; path != wrong.path || !errors.Is(read.Err, wrong.want) || !errors.As(read.Err, new(*framework.OpError)) {
					f.Errorf("%s: %s, %v", name, path, read.Err)
				}
			}
			if n != 1 {
				f.Errorf("%s: %d errors", name, n)
			}
		}
		for range f.client.ReadMany(f.Context(), nodesBelow("", 0)) {
			f.Error("there is a node")
		}
		f.wantSent()
	})
}

// longName is the name of a node whose request no server takes.
var longName = fmt.Sprintf("%01050000d", 0)

// The reads are under way at the same time: they take a few round trips, not one each.
func TestReadManyPipelined(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		createBelow(f.T, f.client, "/many", 1000)
		for n, trips := range map[int]time.Duration{1: 1, 64: 1, 256: 1, 1000: 4} {
			start := time.Now()
			for path, read := range f.client.ReadMany(f.Context(), nodesBelow("/many", n)) {
				if read.Err != nil {
					f.Errorf("%s: %v", path, read.Err)
				}
			}
			if took := time.Since(start); took != trips*roundTrip {
				f.Errorf("%d reads took %v", n, took)
			}
		}
	})
}

// moments are those in which something happens to a ReadMany: between its round trips, and within them.
func moments(test func(at time.Duration)) {
	for at := time.Duration(0); at <= 5*roundTrip; at += roundTrip / 4 {
		test(at)
	}
}

// Behind a lost connection, and behind a lost session, the reads are repeated, whenever it is.
func TestReadManyLost(t *testing.T) {
	for name, lose := range map[string]func(f *throttled){
		"connection": func(f *throttled) { f.server.Disconnect() },
		"session":    func(f *throttled) { f.server.ExpireSession(f.client.SessionID()) },
	} {
		moments(func(at time.Duration) {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				withThrottled(t, func(f *throttled) {
					createBelow(f.T, f.client, "/many", 1000)
					timer := time.AfterFunc(at, func() { lose(f) })
					defer timer.Stop()
					i := 0
					for path, read := range f.client.ReadMany(f.Context(), nodesBelow("/many", 1100)) {
						missing := errors.Is(read.Err, framework.ErrNoNode)
						if path != fmt.Sprintf("/many/%05d", i) || missing != (i >= 1000) || !missing && read.Err != nil {
							f.Fatalf("%s, number %d: %v", path, i, read.Err)
						}
						i++
					}
					if i != 1100 {
						f.Errorf("%d reads", i)
					}
				})
			})
		})
	}
}

// When the context ends, or the client is closed, what was answered is yielded, and the next path has the
// error and is the last, of a finite sequence and of an infinite one.
func TestReadManyEnds(t *testing.T) {
	for name, end := range map[string]struct {
		want error
		end  func(f *throttled, cancel context.CancelCauseFunc)
	}{
		"context": {context.Canceled, func(_ *throttled, cancel context.CancelCauseFunc) { cancel(errBroken) }},
		"close": {framework.ErrClosed, func(f *throttled, _ context.CancelCauseFunc) {
			if err := f.client.Close(f.Context()); err != nil {
				f.Error(err)
			}
		}},
	} {
		moments(func(at time.Duration) {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				withThrottled(t, func(f *throttled) {
					ctx, cancel := context.WithCancelCause(f.Context())
					defer cancel(nil)
					done := make(chan struct{})
					time.AfterFunc(at, func() {
						end.end(f, cancel)
						close(done)
					})
					reads, errs := 0, 0
					for _, read := range f.client.ReadMany(ctx, forever, framework.ReadStat) {
						switch {
						case errs > 0:
							f.Fatal("there is a read behind the error")
						case read.Err == nil:
							reads++
						case !errors.Is(read.Err, end.want) || framework.MaybeApplied(read.Err):
							f.Fatal(read.Err)
						default:
							errs++
						}
					}
					<-done
					if errs != 1 || at > 2*roundTrip && reads < 256 {
						f.Errorf("%d reads, and %d errors", reads, errs)
					}
				})
			})
		})
	}
}

// A loop that ends early leaves no goroutine, sends nothing more, and takes nobody's turn.
func TestReadManyStops(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		for _, stop := range []int{1, 64, 65, 300} {
			n := 0
			for _, read := range f.client.ReadMany(f.Context(), forever, framework.ReadStat) {
				if n++; read.Err != nil || n == stop {
					break
				}
			}
			time.Sleep(5 * roundTrip)
			f.mu.Lock()
			if sent := len(f.sent); n != stop || sent > stop+255 {
				f.Errorf("%d reads were taken, and %d were sent", n, sent)
			}
			f.sent = nil
			f.mu.Unlock()
		}
		suite.WantPanic(f.T, func() {
			for range f.client.ReadMany(f.Context(), forever) {
				synctest.Wait() // the next flight is sent
				panic("boom")
			}
		})
		f.want(f.read(f.Context(), "/"), 2*roundTrip, nil) // behind the flight that was sent
	}, framework.WithMaxInFlight(1))
}

// The body of the loop may use the client, also if the client lets one operation pass at a time, and may read
// with ReadMany in turn.
func TestReadManyNested(t *testing.T) {
	withThrottled(t, func(f *throttled) {
		createBelow(f.T, f.client, "/many", 10)
		n := 0
		for _, read := range f.client.ReadMany(f.Context(), slices.Values([]string{"/many", "/", "/many"}), framework.ReadChildren) {
			if read.Err != nil {
				f.Error(read.Err)
			}
			if _, err := f.client.GetData().ForPath(f.Context(), "/many"); err != nil {
				f.Error(err)
			}
			for path, read := range f.client.ReadMany(f.Context(), nodesBelow("/many", len(read.Children))) {
				if n++; read.Err != nil && path != "/many/00001" {
					f.Error(path, read.Err)
				}
			}
		}
		if n != 22 {
			f.Errorf("%d reads", n)
		}
	}, framework.WithMaxInFlight(1))
}

// A path whose answer may pass is asked for again, and nothing else is. When the policy gives up, the paths that
// were lost together have the error together, and the next ones are tried anew.
func TestReadManyRetries(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spans := suite.NewSpans()
		policy := retry.NTimes(1, time.Second)
		c, err := framework.NewClient(b.ConnectString(), policy, framework.WithDialer(b.Server().DialContext),
			framework.WithConnectionTimeout(3*time.Second), framework.WithTracing(spans.Option()), framework.WithNamespace("ns"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		createBelow(t, c, "/many", 100)
		b.Server().Inject(curatortest.Rule{Op: "getData", Path: "/ns/many/00040", Do: curatortest.Fail(framework.ErrConnectionLoss)})
		for path, read := range c.ReadMany(t.Context(), nodesBelow("/many", 100)) {
			if read.Err != nil {
				t.Errorf("%s: %v", path, read.Err)
			}
		}
		b.Server().Stop()
		start, n := time.Now(), 0
		for path, read := range c.ReadMany(t.Context(), nodesBelow("/many", 600)) {
			var failed *framework.OpError
			if n++; !errors.As(read.Err, &failed) || failed.Path != path || failed.Attempts != 2 || !errors.Is(read.Err, framework.ErrConnectionLoss) {
				t.Fatalf("%s: %v", path, read.Err)
			}
		}
		if took := time.Since(start); n != 600 || took > 30*time.Second {
			t.Errorf("%d errors in %v", n, took)
		}
		if all := spans.Named("readMany"); len(all) != 2 {
			t.Errorf("%d spans", len(all))
		}
		b.Server().Start()
	})
}

// Data is decompressed as by GetData.
func TestReadManyCompressed(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t, framework.WithCompression())
		createBelow(t, c, b.Path("many"), 3)
		if _, err := c.SetData().Uncompressed().ForPath(t.Context(), b.Path("many/00001"), []byte("plain")); err != nil {
			t.Fatal(err)
		}
		i := 0
		for path, read := range c.ReadMany(t.Context(), nodesBelow(b.Path("many"), 3)) {
			if want := fmt.Sprintf("%05d", i); i == 1 && !errors.Is(read.Err, framework.ErrDecompress) || i != 1 && string(read.Data) != want {
				t.Errorf("%s: %q, %v", path, read.Data, read.Err)
			}
			i++
		}
	})
}

// However many paths there are, memory has what the window has, and large answers make that smaller.
func TestReadManyMemory(t *testing.T) {
	for name, tt := range map[string]struct{ size, n, ahead, most int }{
		"small": {4 << 10, 15_000, 256, 40 << 20},
		"large": {450 << 10, 400, 16 << 20 / (450 << 10), 80 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				c, network := b.Client(t)
				node := b.Path("node")
				if _, err := c.Create().CreatingParentsIfNeeded().WithData(make([]byte, tt.size)).ForPath(t.Context(), node); err != nil {
					t.Fatal(err)
				}
				most, ahead, i := 0, 0, 0
				for _, read := range c.ReadMany(t.Context(), slices.Values(slices.Repeat([]string{node}, tt.n))) {
					if len(read.Data) != tt.size {
						t.Fatal(read.Err)
					}
					if i++; i <= 256 {
						continue // these may take more
					}
					if ahead = max(ahead, network.Requests(jute.OpGetData)-i); i%(tt.n/10) == 0 {
						var mem runtime.MemStats
						runtime.GC()
						runtime.ReadMemStats(&mem)
						most = max(most, int(mem.HeapAlloc))
					}
				}
				if n := network.Requests(jute.OpGetData); i != tt.n || n != i || ahead > tt.ahead || most > tt.most {
					t.Errorf("%d reads in %d requests, up to %d ahead, %d KiB of %d KiB", i, n, ahead, most>>10, tt.most>>10)
				}
			})
		})
	}
}
