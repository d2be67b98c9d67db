package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// A watcher that works until its context ends does not hold Close up.
func TestCloseEndsWatchers(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		in := make(chan struct{})
		w := framework.NewWatcher(func(ctx context.Context, _ framework.WatchedEvent) {
			close(in)
			<-ctx.Done()
		})
		path := strings.ReplaceAll(b.Path(""), "/", "")
		if _, err := c.CheckExists().UsingWatcher(w).ForPath(t.Context(), "/"+path); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/"+path); err != nil {
			t.Fatal(err)
		}
		<-in
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	})
}

// That an attempt to connect ran into its own time limit is not the end of the caller's
// context, and passes.
func TestConnectingTakesLong(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t, framework.WithConnectionTimeout(suite.SessionTimeout/2))
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		heal := network.Isolate()
		network.Cut()
		time.AfterFunc(suite.SessionTimeout*3/2, heal)
		if _, err := c.CheckExists().ForPath(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		heal = network.Isolate()
		network.Cut()
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		time.AfterFunc(suite.SessionTimeout, func() { cancel(why) })
		_, err := c.CheckExists().ForPath(ctx, "/")
		if !errors.Is(err, why) || !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || framework.Retryable(err) {
			t.Fatal(err)
		}
		heal()
	})
}

// An earlier try may have been applied, though the last was not even sent.
func TestMaybeAppliedByAnEarlierTry(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t, framework.WithConnectionTimeout(20*time.Millisecond))
		path := b.Path("node")
		if _, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		var heal func()
		hit := network.On(jute.OpDelete, suite.CutAfter, func() { heal = network.Isolate() })
		ctx, cancel := context.WithTimeout(t.Context(), suite.SessionTimeout/4)
		defer cancel()
		err := c.Delete().ForPath(ctx, path)
		<-hit
		if !framework.MaybeApplied(err) {
			t.Errorf("%v: it was applied", err)
		}
		heal()
	})
}

// A lost look at the parents is not a lost create.
func TestParentsAreLookedForAgain(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		lookHit := network.On(jute.OpExists, suite.CutAfter, nil)
		if _, err := c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), b.Path("x/y/z")); err != nil {
			t.Fatal(err)
		}
		makeHit := network.On(jute.OpCreateContainer, suite.CutAfter, nil)
		if _, err := c.Create().CreatingParentContainersIfNeeded().ForPath(t.Context(), b.Path("a/b/c")); err != nil {
			t.Fatal(err)
		}
		<-lookHit
		<-makeHit
	})
}

// The root of a namespace with protection would be a node beside the namespace.
func TestProtectionStaysInTheNamespace(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		view := c.UsingNamespace(strings.TrimPrefix(b.Path("ns"), "/"))
		_, err := view.Create().WithProtection().WithMode(framework.Ephemeral).ForPath(t.Context(), "/")
		if !errors.Is(err, framework.ErrInvalidPath) {
			t.Fatal(err)
		}
		path, err := view.Create().WithProtection().WithMode(framework.EphemeralSequential).ForPath(t.Context(), "/")
		if err != nil || !strings.HasPrefix(path, "/_c_") {
			t.Fatal(path, err)
		}
	})
}

// Data given to an operation in the background is the caller's again when the call returns.
func TestBackgroundData(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		path := strings.ReplaceAll(b.Path(""), "/", "")
		done := make(chan error, 2)
		data := []byte("first")
		err := c.Create().WithMode(framework.Ephemeral).WithData(data).InBackground(t.Context(), "/"+path,
			func(_ context.Context, _ string, err error) { done <- err })
		if err != nil {
			t.Fatal(err)
		}
		copy(data, "later")
		data = []byte("again")
		err = c.SetData().InBackground(t.Context(), "/"+path, data,
			func(_ context.Context, _ framework.Stat, err error) { done <- err })
		if err != nil {
			t.Fatal(err)
		}
		copy(data, "later")
		if err := errors.Join(<-done, <-done); err != nil {
			t.Fatal(err)
		}
		if got, err := c.GetData().ForPath(t.Context(), "/"+path); err != nil || string(got) != "again" {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

func TestZeroWatcher(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		path := "/" + strings.ReplaceAll(b.Path(""), "/", "")
		for _, w := range []*framework.Watcher{nil, {}, framework.NewWatcher(nil)} {
			if _, err := c.CheckExists().UsingWatcher(w).ForPath(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	})
}

// A server counts the two halves of a character beyond U+FFFF, and refuses both: so it is refused
// here, as what it is.
func TestPathsBeyondTheFirstPlane(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for _, name := range []string{"𐀀", "a😀", "􏿿/b", "￰", "￿", "", ""} {
			for i, call := range []func() error{
				func() error { _, err := c.Create().ForPath(t.Context(), "/"+name); return err },
				func() error {
					_, err := c.Create().WithMode(framework.PersistentSequential).ForPath(t.Context(), "/"+name)
					return err
				},
				func() error { return c.Sync().ForPath(t.Context(), "/"+name) },
				func() error { _, err := c.UsingNamespace(name).GetData().ForPath(t.Context(), "/"); return err },
				func() error {
					_, err := c.Transaction().ForOperations(t.Context(), c.TransactionOp().Delete().ForPath("/"+name))
					return err
				},
				func() error { _, err := framework.NewClient("a:1/"+name, retry.None()); return err },
			} {
				if err := call(); !errors.Is(err, framework.ErrInvalidPath) {
					t.Errorf("%q, call %d: %v", name, i, err)
				}
			}
		}
		for _, op := range []jute.Op{jute.OpCreate2, jute.OpSync, jute.OpGetData, jute.OpMulti} {
			if n := network.Requests(op); n != 0 {
				t.Errorf("%d requests %d", n, op)
			}
		}
		for _, good := range []string{"ä", "￯", "豈"} {
			path, err := c.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/"+good+strings.ReplaceAll(b.Path(""), "/", ""))
			if err != nil {
				t.Errorf("%q: %v", path, err)
			}
		}
	})
}

// A parent that is missing below a namespace is not looked for over and over.
func TestNoNodeBelowNamespace(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		view := c.UsingNamespace(strings.TrimPrefix(b.Path("ns"), "/"))
		if _, err := view.Create().ForPath(t.Context(), "/a"); err != nil {
			t.Fatal(err)
		}
		sent := network.Requests(jute.OpCreate2)
		if _, err := view.Create().ForPath(t.Context(), "/none/a"); !errors.Is(err, framework.ErrNoNode) {
			t.Fatal(err)
		}
		if n := network.Requests(jute.OpCreate2) - sent; n > 3 {
			t.Fatalf("%d creates", n)
		}
	})
}
