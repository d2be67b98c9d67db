package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestNewClientRefuses(t *testing.T) {
	for _, connect := range []string{
		"", ",", "host:", "host:0", "host:99999", "host:port", "a:1,,b:1", "a b:2181", "::1:2181",
		"host:2181/a//b", "host:2181/a/", "http://host:2181", "/app",
	} {
		_, err := framework.NewClient(connect, retry.None())
		if !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("connect string %q: %v", connect, err)
		}
	}
	for _, connect := range []string{"host", "host:2181", "a:1, b:2,c", "[::1]:2181", "[::1]", "h:1/app/x", "h:1/", "h:1/a,b/c:d"} {
		if _, err := framework.NewClient(connect, retry.None()); err != nil {
			t.Errorf("connect string %q: %v", connect, err)
		}
	}
	for name, opt := range map[string]framework.Option{
		"nil":               nil,
		"zero timeout":      framework.WithSessionTimeout(0),
		"milliseconds":      framework.WithSessionTimeout(60000),
		"negative":          framework.WithConnectionTimeout(-1),
		"months":            framework.WithSessionTimeout(90 * 24 * time.Hour),
		"no dialer":         framework.WithDialer(nil),
		"no logger":         framework.WithLogger(nil),
		"no policy":         framework.WithErrorPolicy(nil),
		"no scheme":         framework.WithAuthorization("", nil),
		"small data":        framework.WithMaxData(1),
		"percent":           framework.WithSimulatedSessionExpirationPercent(101),
		"namespace":         framework.WithNamespace("/a"),
		"margin":            framework.WithLossMargin(5),
		"wait":              framework.WithMaxCloseWait(0),
		"relative namepath": framework.WithNamespace("a/../b"),
	} {
		if _, err := framework.NewClient("host", retry.None(), opt); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := framework.NewClient("host", nil); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("no retry policy: %v", err)
	}
}

// TestNewClientAdvises has frequent mistakes, whose errors say what to write instead.
func TestNewClientAdvises(t *testing.T) {
	for name, c := range map[string]struct {
		connect string
		policy  retry.Policy
		opt     framework.Option
		want    string
	}{
		"scheme":       {"zk://a:2181", retry.None(), nil, `leave "zk://" out`},
		"spaces":       {"a:2181 b:2181", retry.None(), nil, "separated by commas"},
		"semicolons":   {"a;b", retry.None(), nil, "separated by commas"},
		"two chroots":  {"a:2181/app,b:2181/app", retry.None(), nil, `"b:2181" is behind the chroot`},
		"namespace":    {"a", retry.None(), framework.WithNamespace("/app"), "without a slash"},
		"milliseconds": {"a", retry.ExponentialBackoff(1000, 3), nil, "1000*time.Millisecond"},
	} {
		opts := []framework.Option{framework.WithoutTracing()}
		if c.opt != nil {
			opts = append(opts, c.opt)
		}
		_, err := framework.NewClient(c.connect, c.policy, opts...)
		if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// operations calls everything that a client can do.
func operations(ctx context.Context, c *framework.Client) map[string]error {
	errs := map[string]error{"connect": c.BlockUntilConnected(ctx)}
	_, errs["create"] = c.Create().ForPath(ctx, "/a")
	errs["delete"] = c.Delete().ForPath(ctx, "/a")
	_, errs["exists"] = c.CheckExists().ForPath(ctx, "/a")
	_, errs["getData"] = c.GetData().ForPath(ctx, "/a")
	_, errs["setData"] = c.SetData().ForPath(ctx, "/a", nil)
	_, errs["getChildren"] = c.GetChildren().ForPath(ctx, "/a")
	_, errs["multi"] = c.Transaction().ForOperations(ctx, c.TransactionOp().Check().ForPath("/a"))
	errs["background"] = c.Delete().InBackground(ctx, "/a", nil)
	return errs
}

// The zero value and a nil client refuse everything, and so does one that has no life.
func TestClientWithoutLife(t *testing.T) {
	fresh, err := framework.NewClient("127.0.0.1:1", retry.None())
	if err != nil {
		t.Fatal(err)
	}
	closed, err := framework.NewClient("127.0.0.1:1", retry.None())
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(t.Context()); err != nil { // legal before Start
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		client *framework.Client
		want   error
	}{
		"nil": {nil, framework.ErrNotStarted}, "zero": {&framework.Client{}, framework.ErrNotStarted},
		"fresh": {fresh, framework.ErrNotStarted}, "closed": {closed, framework.ErrClosed},
		"view": {fresh.UsingNamespace("x"), framework.ErrNotStarted},
	} {
		for op, err := range operations(t.Context(), c.client) {
			text := fmt.Sprint(err)
			if !errors.Is(err, c.want) || (name == "nil" || name == "zero") != strings.Contains(text, "the client is nil") ||
				(name == "fresh" || name == "view") != strings.Contains(text, "call Client.Start first") {
				t.Errorf("%s client: %s: %v", name, op, err)
			}
		}
		if c.client.SessionID() != 0 || c.client.SessionTimeout() != 0 || c.client.ConnectionState() != 0 || c.client.LastZxid() != 0 {
			t.Errorf("%s client has a session", name)
		}
		c.client.ConnectionStateListenable().Add(func(context.Context, state.ConnectionState) {})()
		c.client.CuratorListenable().Add(func(context.Context, framework.Event) {})()
		c.client.UnhandledErrorListenable().Add(func(context.Context, error) {})()
		_, _, _ = c.client.Logger(), c.client.ErrorPolicy(), c.client.DefaultData()
	}
	if err := closed.Start(t.Context()); !errors.Is(err, framework.ErrClosed) || closed.State() != framework.Stopped {
		t.Errorf("start of a closed client: %v, %v", err, closed.State())
	}
	var none context.Context
	if err := fresh.Start(none); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("start without a context: %v", err)
	}
	if err := (*framework.Client)(nil).Close(t.Context()); err != nil {
		t.Errorf("close of a nil client: %v", err)
	}
}

func TestLifecycle(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		if err := c.Start(t.Context()); !errors.Is(err, framework.ErrAlreadyStarted) {
			t.Fatal(err)
		}
		view := c.UsingNamespace("ns")
		if err := errors.Join(view.Start(t.Context()), view.Close(t.Context())); !errors.Is(err, framework.ErrView) {
			t.Fatal(err)
		}
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.SessionTimeout() != b.SessionTimeout() || c.SessionID() == 0 || c.State() != framework.Started {
			t.Fatalf("timeout %v, session %x, state %v", c.SessionTimeout(), c.SessionID(), c.State())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Close(ctx); err != nil { // works although ctx has ended
			t.Fatal(err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for op, err := range operations(t.Context(), c) {
			if !errors.Is(err, framework.ErrClosed) {
				t.Errorf("%s after Close: %v", op, err)
			}
		}
	})
}

// A read is tried again; how often is in the error.
func TestRetry(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for _, fate := range []suite.Fate{suite.CutBefore, suite.CutAfter} {
			hit := network.On(jute.OpExists, fate, nil)
			if _, err := c.CheckExists().ForPath(t.Context(), "/"); err != nil {
				t.Fatal(err)
			}
			<-hit
		}
		network.On(jute.OpExists, suite.CutBefore, func() { network.Expire(t) })
		if _, err := c.CheckExists().ForPath(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		// Loops nest: three tries in all, not nine.
		tries := 0
		for range 3 {
			network.On(jute.OpGetData, suite.CutAfter, nil)
		}
		err := retry.Do(t.Context(), retry.NTimes(2, time.Millisecond), func(ctx context.Context) error {
			tries++
			_, err := c.GetData().ForPath(ctx, "/")
			return err
		})
		var op *framework.OpError
		if !errors.Is(err, framework.ErrConnectionLoss) || !errors.As(err, &op) || tries != 3 || op.Attempts != 1 {
			t.Fatalf("%d tries, %v", tries, err)
		}
		if n := network.Requests(jute.OpGetData); n != 3 {
			t.Fatalf("%d requests", n)
		}
	})
}

// unreachableServer starts a client, in a bubble, whose dialer fails at once.
func unreachableServer(t *testing.T, connect string, policy retry.Policy, why error) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(connect, policy, framework.WithConnectionTimeout(20*time.Millisecond),
		framework.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, why }))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return client
}

func TestRetriesGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := unreachableServer(t, "127.0.0.1:1", retry.NTimes(2, time.Millisecond), syscall.ECONNREFUSED)
		defer client.Close(t.Context())
		_, err := client.GetData().ForPath(t.Context(), "/")
		text := fmt.Sprint(err)
		if !errors.Is(err, framework.ErrConnectionLoss) || framework.MaybeApplied(err) ||
			!strings.Contains(text, "getData /: connection lost") || !strings.Contains(text, "refused") || !strings.Contains(text, "(3 attempts)") {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		err = client.BlockUntilConnected(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "\n") {
			t.Fatal(err)
		}
	})
}

func TestUnknownHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lookup := &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}
		client := unreachableServer(t, "nowhere.invalid:2181", retry.None(), lookup)
		defer client.Close(t.Context())
		_, err := client.GetData().ForPath(t.Context(), "/")
		if !errors.Is(err, framework.ErrConnectionLoss) || !errors.Is(err, lookup) {
			t.Fatal(err)
		}
	})
}

func TestNamespaces(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		root := strings.TrimPrefix(b.Path("ns"), "/")
		view := c.UsingNamespace(root)
		path, err := view.Create().ForPath(t.Context(), "/a") // the namespace is made, too
		if err != nil || path != "/a" || view.Namespace() != root {
			t.Fatalf("%q, %v", path, err)
		}
		if data, err := c.GetData().ForPath(t.Context(), "/"+root+"/a"); err != nil || string(data) != "test" {
			t.Fatalf("%q, %v", data, err)
		}
		names, err := view.GetChildren().ForPath(t.Context(), "/")
		if err != nil || len(names) != 1 {
			t.Fatalf("%q, %v", names, err)
		}
		w, events := watch()
		if _, err := view.GetData().UsingWatcher(w).ForPath(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		if _, err := view.UsingNamespace("").SetData().ForPath(t.Context(), "/"+root+"/a", nil); err != nil {
			t.Fatal(err)
		}
		if e := <-events; e.Path != "/a" {
			t.Fatalf("event %+v", e)
		}
		_, err = c.UsingNamespace("a//b").GetData().ForPath(t.Context(), "/a")
		if !errors.Is(err, framework.ErrInvalidPath) {
			t.Fatal(err)
		}
	})
}

// Operations in the background come in the order of their calls, and each is heard of once.
func TestInBackground(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		root := b.Path("")
		root = root[:len(root)-1]
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var paths []string
		create := c.Create().WithMode(framework.PersistentSequential)
		if _, err := c.Create().ForPath(ctx, root); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			err := create.InBackground(ctx, root+"/n", func(_ context.Context, path string, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				paths = append(paths, path)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		cancel() // the operations are the client's
		events := make(chan framework.Event, 1)
		c.CuratorListenable().Add(func(_ context.Context, e framework.Event) { events <- e })
		if err := c.Delete().InBackground(t.Context(), root+"/missing", nil); err != nil {
			t.Fatal(err)
		}
		if e := <-events; e.Op != "delete" || e.Path != root+"/missing" || !errors.Is(e.Err, framework.ErrNoNode) {
			t.Fatalf("event %+v", e)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, path := range paths {
			if want := fmt.Sprintf("%s/n%010d", root, i); path != want {
				t.Errorf("path %d is %q, want %q", i, path, want)
			}
		}
		if len(paths) != 10 {
			t.Errorf("%d outcomes", len(paths))
		}
	})
}

// A listener that closes the client, while somebody else does, does not wait for itself by the other's Close.
func TestListenerCloses(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, network := b.Client(t)
		told := make(chan struct{})
		var once sync.Once
		client.ConnectionStateListenable().Add(func(ctx context.Context, s state.ConnectionState) {
			if s != state.Reconnected {
				return
			}
			once.Do(func() {
				close(told)
				<-time.After(time.Second)
				if err := client.Close(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
			})
		})
		if _, err := client.CheckExists().ForPath(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		network.Cut()
		<-told
		if err := client.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// Close ends what is under way, and says what it could not finish.
func TestCloseUnderWay(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		heal := network.Isolate()
		defer heal()
		done := make(chan error, 2)
		go func() {
			_, err := c.GetData().ForPath(t.Context(), "/")
			done <- err
		}()
		err := c.Delete().InBackground(t.Context(), "/x", func(_ context.Context, err error) { done <- err })
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := c.Close(ctx); !errors.Is(err, framework.ErrConnectionLoss) {
			t.Fatalf("close: %v", err)
		}
		for range 2 {
			if err := <-done; !errors.Is(err, framework.ErrClosed) {
				t.Fatalf("an operation under way ended with %v", err)
			}
		}
	})
}

func TestServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := client.Server(); got != server.ConnectString() {
			t.Errorf("connected to %q, want %q", got, server.ConnectString())
		}
		server.Refuse()
		server.Disconnect()
		synctest.Wait()
		if got := client.Server(); got != "" {
			t.Errorf("connected to %q, want to none", got)
		}
		if got := (*framework.Client)(nil).Server(); got != "" {
			t.Errorf("a nil client is connected to %q", got)
		}
	})
}
