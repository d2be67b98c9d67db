package framework_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// refused is the outcome of what is not done.
func refused(err error) func(row) outcome { return func(row) outcome { return outcome{err: err} } }

// done is the outcome of what works all the same.
func done(r row) outcome { return outcome{state: r.after} }

func takesPath(r row) bool { return !r.pathless }

var faults = []fault{
	{name: "none", on: suite.Everywhere, want: done},
	{
		name: "invalid path", applies: takesPath, bare: true, unsent: true,
		place: func(x *cell) { x.path = "relative" },
		want:  refused(framework.ErrInvalidPath),
	},
	{
		// Remove sends no path of its own.
		name: "too large", applies: func(r row) bool { return takesPath(r) && r.builder != "Remove" }, bare: true, unsent: true,
		place: func(x *cell) { x.path += strings.Repeat("x", 1<<20) },
		want:  refused(framework.ErrTooLarge),
	},
	{
		name: "missing", on: suite.OnRealServer, applies: takesPath,
		place: func(x *cell) { x.path += "none/x" },
		want:  func(r row) outcome { return outcome{err: r.missing} },
	},
	{
		name: "existing", on: suite.OnRealServer, applies: func(r row) bool { return r.builder == "Create" && !r.node },
		place: func(x *cell) {
			_, err := x.admin.Create().WithData([]byte("old")).ForPath(x.Context(), x.path)
			x.ok(err)
		},
		want: func(r row) outcome {
			switch r.step {
			case ".OrSetData":
				return outcome{state: r.twice}
			case ".OrSetDataVersion":
				return outcome{err: framework.ErrBadVersion}
			}
			return outcome{err: framework.ErrNodeExists}
		},
	},
	{
		name: "wrong version", on: suite.OnRealServer, applies: func(r row) bool { return r.version != nil },
		place: func(x *cell) { x.call = x.row.version },
		want:  refused(framework.ErrBadVersion),
	},
	{
		name: "not empty", on: suite.OnRealServer, applies: func(r row) bool { return r.builder == "Delete" },
		arm: func(x *cell) {
			_, err := x.admin.Create().ForPath(x.Context(), x.path+"/child")
			x.ok(err)
		},
		want: func(r row) outcome {
			if r.step == ".DeletingChildrenIfNeeded" {
				return done(r)
			}
			return outcome{err: framework.ErrNotEmpty}
		},
	},
	{
		name: "no permission", on: suite.OnRealServer, releases: true, applies: takesPath, place: closeNode,
		want: func(r row) outcome { return outcome{err: r.noAuth} },
	},
	{
		name: "nil context", unsent: true,
		arm:  func(x *cell) { x.ctx = nil },
		want: refused(framework.ErrInvalidOption),
	},
	{
		name: "ended context", unsent: true,
		arm: func(x *cell) {
			ctx, cancel := context.WithCancelCause(x.Context())
			cancel(errEnough)
			x.ctx = ctx
		},
		want: refused(errEnough),
	},
	{
		name: "closed", unsent: true,
		arm:  func(x *cell) { x.ok(x.c.Close(x.Context())) },
		want: refused(framework.ErrClosed),
	},
	{
		name: "silence", // and the context ends meanwhile
		arm: func(x *cell) {
			ctx, cancel := context.WithCancelCause(x.Context())
			x.ctx = ctx
			x.network.On(x.row.op, suite.Late, func() {
				heal := x.network.Isolate()
				x.Cleanup(heal)
				cancel(errEnough)
			})
		},
		want: func(r row) outcome { return outcome{err: errEnough, maybe: r.write} },
	},
	{name: "cut before", arm: func(x *cell) { x.network.On(x.row.op, suite.CutBefore, nil) }, want: lost(false)},
	{name: "cut after", on: suite.OnRealServer, arm: func(x *cell) { x.network.On(x.row.op, suite.CutAfter, nil) }, want: lost(true)},
	{
		name: "session expires", on: suite.OnRealServer,
		arm:  func(x *cell) { x.network.On(x.row.op, suite.CutBefore, func() { x.network.Expire(x.T) }) },
		want: lost(false),
	},
	{
		name: "away", unsent: true, bare: true, applies: func(r row) bool { return r.builder != "Remove" }, // it has nothing to ask about
		arm: func(x *cell) {
			x.Cleanup(x.network.Isolate())
			x.c = newcomer(x, retry.NTimes(2, time.Millisecond))
			call := x.call
			x.call = func(ctx context.Context, c *framework.Client, path string) error {
				err := call(ctx, c, path)
				var op *framework.OpError
				if !errors.As(err, &op) || op.Attempts != 3 {
					x.Errorf("%s: %v, want 3 attempts", x.row.name(), err)
				}
				return err
			}
		},
		want: refused(framework.ErrConnectionLoss),
	},
	{
		name: "away and back", bare: true, applies: func(r row) bool { return r.builder != "Remove" },
		arm: func(x *cell) {
			heal := sync.OnceFunc(x.network.Isolate())
			x.Cleanup(heal)
			x.c = newcomer(x, healing{heal})
		},
		want: done,
	},
}

var errEnough = errors.New("enough")

// lost is the outcome when the connection is lost around a request, which was applied or not.
func lost(applied bool) func(row) outcome {
	return func(r row) outcome {
		switch {
		case r.repeat && applied:
			return outcome{state: cmp.Or(r.twice, r.after)}
		case r.repeat:
			return done(r)
		case applied:
			return outcome{err: framework.ErrConnectionLoss, maybe: true, state: r.after}
		}
		return outcome{err: framework.ErrConnectionLoss, maybe: true}
	}
}

// closeNode lets the call be about a node that is another identity's, or for what concerns a
// node's parent about one below it.
func closeNode(x *cell) {
	owner, _ := x.b.Client(x.T, framework.WithAuthorization("digest", []byte("owner:secret")))
	x.path += "own"
	_, err := owner.Create().WithACL(framework.CreatorAllACL()...).ForPath(x.Context(), x.path)
	x.ok(err)
	if slices.Contains([]string{"Create", "Delete"}, x.row.builder) && x.row.step != ".WithProtection" {
		x.path += "/x"
	}
	if x.row.builder == "Delete" {
		_, err := owner.Create().ForPath(x.Context(), x.path)
		x.ok(err)
	}
}

// newcomer returns a client on the cell's network that has not been connected, and whose
// attempts to connect are short.
func newcomer(x *cell, policy retry.Policy) *framework.Client {
	c, err := framework.NewClient(x.b.ConnectString(), policy, framework.WithDialer(x.network.Dial),
		framework.WithSessionTimeout(suite.SessionTimeout), framework.WithConnectionTimeout(20*time.Millisecond),
		framework.WithDefaultData(nil))
	x.ok(err)
	x.ok(c.Start(x.Context()))
	x.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := c.Close(ctx); err != nil && !errors.Is(err, framework.ErrConnectionLoss) {
			x.Error(err)
		}
	})
	return c
}

// healing is a policy that lets the third try find the server back.
type healing struct{ heal func() }

func (h healing) Next(attempt int, _ time.Duration, _ error) (time.Duration, bool) {
	if attempt == 1 {
		h.heal()
	}
	return time.Millisecond, attempt < 200
}

// TestMatrixOfLife has what needs no server: clients that have no life, and builders of no
// client, refuse everything, in the background, too.
func TestMatrixOfLife(t *testing.T) {
	fresh, err := framework.NewClient("127.0.0.1:1", retry.None())
	if err != nil {
		t.Fatal(err)
	}
	closed, err := framework.NewClient("127.0.0.1:1", retry.None())
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for name, c := range map[string]struct {
			client *framework.Client
			want   error
		}{
			"nil": {nil, framework.ErrNotStarted}, "zero": {&framework.Client{}, framework.ErrNotStarted},
			"fresh": {fresh, framework.ErrNotStarted}, "closed": {closed, framework.ErrClosed},
		} {
			for way, call := range map[string]func(ctx context.Context, c *framework.Client, path string) error{
				"in the foreground": r.call, "in the background": r.later,
			} {
				err := call(t.Context(), c.client, "/a")
				var op *framework.OpError
				if !errors.Is(err, c.want) || !errors.As(err, &op) || framework.MaybeApplied(err) {
					t.Errorf("%s %s, %s client: %v", r.name(), way, name, err)
				}
			}
		}
		if err := r.zero(t.Context(), "/a"); !errors.Is(err, framework.ErrNotStarted) {
			t.Errorf("%s, zero builder: %v", r.name(), err)
		}
	}
}
