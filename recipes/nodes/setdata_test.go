package nodes_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

// Data that is set before Start is what Start writes; data that is set later costs one write, and
// is what the node has after every fault that follows. The path stays the same.
func TestSetData(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			suite.EachOf(t, backendsOf(f), func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				e.keep(f.mode, f.opts...)
				e.operate(e.node.SetData(t.Context(), []byte(theirs)))
				e.start()
				e.until(theirs)
				path := e.node.ActualPath()
				before, all := e.network.Requests(jute.OpSetData), e.traffic()
				e.operate(e.node.SetData(t.Context(), []byte(changed)))
				if n := e.network.Requests(jute.OpSetData) - before; n != 1 {
					t.Errorf("%d writes", n)
				}
				e.until(changed)
				suite.Eventually(t, "the read that sets the watch again", func() bool { return e.traffic().minus(all).reads > 0 })
				e.quiet()
				if n := e.traffic().minus(all); n != (traffic{writes: 1, reads: 1}) {
					t.Errorf("SetData took %+v", n)
				}
				e.delete()
				e.until(changed)
				if e.node.ActualPath() != path {
					t.Errorf("the path was %s and is %s", path, e.node.ActualPath())
				}
				e.closed()
			})
		})
	}
}

// Data that is set while Start is writing other data is written, too, by this Start or the next.
func TestSetDataDuringStart(t *testing.T) {
	for name, tt := range map[string]struct {
		fate  suite.Fate // of the read behind the create
		then  func(e *env, cancel func())
		start error // of Start
		set   error // of SetData
	}{
		"Start succeeds": {fate: suite.Late, then: func(*env, func()) {}},
		"Start fails":    {fate: suite.CutBefore, then: func(_ *env, cancel func()) { cancel() }, start: context.Canceled},
		"Close": {
			fate: suite.CutBefore, start: framework.ErrClosed, set: framework.ErrClosed,
			then: func(e *env, _ func()) {
				go func() { e.operate(e.node.Close(e.t.Context())) }()
				elapse(time.Millisecond)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.dir)
				e.operate(err) // so that the first read is the last one of Start
				e.keep(framework.Ephemeral)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				set := make(chan error, 1)
				e.network.On(jute.OpGetData, tt.fate, func() {
					go func() { set <- e.node.SetData(t.Context(), []byte(changed)) }()
					elapse(time.Millisecond)
					tt.then(e, cancel)
				})
				if err := e.node.Start(ctx); !errors.Is(err, tt.start) {
					t.Fatalf("Start: %v", err)
				}
				if err := <-set; !errors.Is(err, tt.set) {
					t.Fatalf("SetData: %v", err)
				}
				if tt.set == nil {
					if tt.start != nil {
						e.start()
					}
					e.quiet()
					if data, _, _ := e.read(); data != changed {
						t.Errorf("SetData returned nil, and the node has %q", data)
					}
				}
				e.closed()
			})
		})
	}
}

// Calls that wait at the same time are merged, and all are answered.
func TestSetDataMerged(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.keep(framework.Ephemeral)
		e.start()
		heal := e.network.Isolate()
		var calls sync.WaitGroup
		for i := range 10 {
			elapse(time.Millisecond)
			calls.Go(func() {
				if err := e.node.SetData(t.Context(), []byte{byte('0' + i)}); err != nil {
					t.Error(err)
				}
			})
		}
		elapse(time.Second)
		heal()
		calls.Wait()
		e.untilOwned("9")
		if n := e.network.Requests(jute.OpSetData); n > 2 {
			t.Errorf("%d writes for calls that waited together", n)
		}
		e.closed()
	})
}

// Data that the server or the client refuses change nothing, and the keeper goes on.
func TestSetDataRefused(t *testing.T) {
	large := make([]byte, 2<<20)
	t.Run("too large", func(t *testing.T) {
		suite.EachOf(t, withRealServer, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.keep(framework.Ephemeral)
			e.start()
			suite.WantErr(t, e.node.SetData(t.Context(), large), framework.ErrTooLarge)
			if got := string(e.node.Data()); got != ours {
				t.Errorf("Data has %d bytes", len(got))
			}
			e.delete()
			e.untilOwned(ours)
			e.operate(e.node.SetData(t.Context(), []byte(changed)))
			e.untilOwned(changed)
			e.closed()
		})
	})
	t.Run("too large at Start", func(t *testing.T) {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.keep(framework.Ephemeral)
			e.operate(e.node.SetData(t.Context(), large))
			suite.WantErr(t, e.node.Start(t.Context()), framework.ErrTooLarge)
			e.operate(e.node.SetData(t.Context(), []byte(ours)))
			e.start()
			e.untilOwned(ours)
			e.closed()
		})
	})
	t.Run("no permission", func(t *testing.T) {
		suite.EachOf(t, withRealServer, func(t *testing.T, b *suite.Backend) {
			e := newEnv(t, b)
			e.directory() // else it would have the ACL, too
			e.keep(framework.Ephemeral, nodes.WithACL(framework.ACL{Perms: framework.PermRead, Scheme: "world", ID: "anyone"}))
			e.start()
			err := e.node.SetData(t.Context(), []byte(changed))
			suite.WantErr(t, err, framework.ErrNoAuth)
			if errors.Is(err, nodes.ErrPending) || string(e.node.Data()) != ours {
				t.Errorf("%v, and Data is %q", err, e.node.Data())
			}
			e.delete()
			e.untilOwned(ours)
			e.closed()
		})
	})
	t.Run("schema", func(t *testing.T) {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			short := schema.ValidatorFunc(func(_ *schema.Schema, change schema.Change) error {
				if len(change.Data) > 10 {
					return errors.New("long")
				}
				return nil
			})
			s := suite.Got(schema.New("short", b.Path("node"), schema.WithValidator(short))).OK(t)
			set := suite.Got(schema.NewSet([]*schema.Schema{s}, true)).OK(t)
			e := newEnv(t, b, framework.WithSchemaSet(set))
			e.keep(framework.Ephemeral)
			e.start()
			var violation *schema.Violation
			if err := e.node.SetData(t.Context(), make([]byte, 11)); !errors.As(err, &violation) {
				t.Fatalf("SetData returned %v", err)
			}
			e.untilOwned(ours)
			e.closed()
		})
	})
}

// A node that its own client may not read is kept by its Stat, or by the answers to the writes if the server does not
// show that either.
func TestUnreadable(t *testing.T) {
	suite.EachRelease(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.directory() // else it would have the ACL, too
		e.operator, _ = b.Client(t, framework.WithAuthorization("digest", []byte("operator:password")))
		e.keep(framework.Ephemeral, nodes.WithACL(
			framework.WorldACL(framework.PermWrite), framework.DigestACL("operator", "password", framework.PermRead)))
		e.start()
		owned := func() framework.Stat {
			var stat framework.Stat
			suite.Eventually(t, "the node", func() bool {
				there, err := e.operator.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), e.path)
				e.operate(err)
				return there && stat.EphemeralOwner == e.client.SessionID()
			})
			return stat
		}
		before := owned()
		e.network.Cut()
		if b.Virtual || !b.ExistsNeedsRead(t) { // else no watch is set
			e.quiet()
		}
		if after := owned(); after.Mzxid != before.Mzxid {
			t.Error("the node was written again after a reconnect")
		}
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		if after := owned(); after.DataLength != int32(len(changed)) {
			t.Errorf("%d bytes", after.DataLength)
		}
		if b.Virtual { // see unreadablePause
			e.delete()
			elapse(11 * time.Second)
			if after := owned(); after.Czxid == before.Czxid {
				t.Error("it is the same node")
			}
		}
		e.closed()
	})
}

// The context bounds the wait, and an ended one does not keep the data from being wanted.
func TestSetDataEndedContext(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.keep(framework.Ephemeral)
		e.start()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.node.SetData(ctx, []byte(changed)); err != nil {
			suite.WantErr(t, err, nodes.ErrPending, context.Canceled)
		}
		e.untilOwned(changed)
		e.closed()
	})
}
