package atomics_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

func TestMisuse(t *testing.T) {
	client := suite.Got(framework.NewClient("localhost:1", retry.None())).OK(t)
	var noLock locks.InterProcessLock
	lock := suite.Got(locks.NewInterProcessMutex(client, "/lock")).OK(t)
	for name, row := range map[string]struct {
		client *framework.Client
		path   string
		policy retry.Policy
		opts   []atomics.Option
		want   error
	}{
		"nil client":    {nil, "/a", often, nil, framework.ErrNotStarted},
		"path":          {client, "a", often, nil, framework.ErrInvalidPath},
		"nil policy":    {client, "/a", nil, nil, retry.ErrInvalidPolicy},
		"policy":        {client, "/a", retry.Forever(10), nil, retry.ErrInvalidPolicy},
		"nil option":    {client, "/a", often, []atomics.Option{nil}, framework.ErrInvalidOption},
		"nil lock":      {client, "/a", often, []atomics.Option{atomics.WithPromotedToLock(noLock, often)}, framework.ErrInvalidOption},
		"lock's policy": {client, "/a", often, []atomics.Option{atomics.WithPromotedToLock(lock, nil)}, retry.ErrInvalidPolicy},
		"no name":       {client, "/a", often, []atomics.Option{atomics.WithName("")}, framework.ErrInvalidOption},
		"long name":     {client, "/a", often, []atomics.Option{atomics.WithName(strings.Repeat("x", 129))}, framework.ErrInvalidOption},
	} {
		_, longErr := atomics.NewDistributedAtomicLong(row.client, row.path, row.policy, row.opts...)
		_, shortErr := atomics.NewDistributedAtomicInteger(row.client, row.path, row.policy, row.opts...)
		_, valueErr := atomics.NewDistributedAtomicValue(row.client, row.path, row.policy, row.opts...)
		for _, err := range []error{longErr, shortErr, valueErr} {
			if !errors.Is(err, row.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, n := range []*atomics.DistributedAtomicLong{nil, {}} {
		wantAll(t, framework.ErrNotStarted, callsOf(t.Context(), n))
	}
	for _, v := range []*atomics.DistributedAtomicValue{nil, {}} {
		_, getErr := v.Get(t.Context())
		_, updateErr := v.Update(t.Context(), func([]byte) ([]byte, error) { return nil, nil })
		_, casErr := v.CompareAndSet(t.Context(), nil, nil)
		_, initErr := v.Initialize(t.Context(), nil)
		wantAll(t, framework.ErrNotStarted, []error{getErr, updateErr, casErr, initErr, v.ForceSet(t.Context(), nil)})
	}
	n := suite.Got(atomics.NewDistributedAtomicLong(client, "/a", often)).OK(t)
	wantAll(t, framework.ErrNotStarted, callsOf(t.Context(), n)) // the client is not
	var none context.Context
	wantAll(t, framework.ErrInvalidOption, callsOf(none, n))
	_, err := n.Update(t.Context(), nil)
	wantAll(t, framework.ErrInvalidOption, []error{err})
}

func callsOf(ctx context.Context, n *atomics.DistributedAtomicLong) []error {
	_, getErr := n.Get(ctx)
	_, addErr := n.Add(ctx, 1)
	_, casErr := n.CompareAndSet(ctx, 0, 1)
	_, initErr := n.Initialize(ctx, 1)
	return []error{getErr, addErr, casErr, initErr, n.ForceSet(ctx, 1)}
}

func wantAll(t *testing.T, want error, errs []error) {
	t.Helper()
	for i, err := range errs {
		if !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", i, err, want)
		}
	}
}

// Bytes belong to the caller: what it does with them later changes nothing.
func TestBytesAreNotKept(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		value := []byte("abc")
		suite.OK(e.t, e.value.ForceSet(e.t.Context(), value))
		value[0] = 'x'
		for range 2 {
			out, err := e.value.Update(e.t.Context(), func(pre []byte) ([]byte, error) {
				pre[0]++
				value = pre
				return pre, nil
			})
			suite.OK(e.t, err)
			if out.Pre[0]+1 != out.Post[0] {
				e.t.Errorf("from %q to %q", out.Pre, out.Post)
			}
			out.Pre[0], value[0] = 'y', 'z'
		}
		if data, err := e.value.Get(e.t.Context()); string(data) != "cbc" || err != nil {
			e.t.Errorf("%q, %v", data, err)
		}
		if n := e.network.Requests(jute.OpGetData); n != 2 { // with that of Get
			e.t.Errorf("%d reads: the value was not remembered", n)
		}
	})
}

// The data of counters is not compressed, also if the client compresses: Java reads it.
func TestNotCompressed(t *testing.T) {
	onServers(t, func(e *env) {
		c, _ := e.b.Client(e.t, framework.WithCompression())
		n := e.newLong(c, often)
		for range 2 {
			suite.Got(n.Increment(e.t.Context())).OK(e.t)
		}
		suite.OK(e.t, n.ForceSet(e.t.Context(), 3))
		e.wantOnServer(3)
	})
}
