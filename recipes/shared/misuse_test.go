package shared_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

func TestMisuse(t *testing.T) {
	double := func(n int) (int, error) { return 2 * n, nil }
	for name, c := range map[string]*shared.Count{"nil": nil, "zero": {}} {
		_, setErr := c.Set(t.Context(), 1)
		_, _, tryErr := c.TrySet(t.Context(), c.VersionedValue(), 1)
		_, updateErr := c.Update(t.Context(), double)
		for call, err := range map[string]error{
			"Start": c.Start(t.Context()), "Set": setErr, "TrySet": tryErr, "Update": updateErr,
		} {
			if !errors.Is(err, framework.ErrNotStarted) {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
		if n := c.Count(); n != 0 {
			t.Errorf("%s: the count is %d", name, n)
		}
		for range c.Updates(t.Context()) {
			t.Errorf("%s: Updates has a value", name)
		}
		c.CountListenable().Add(func(context.Context, int) {})()
		c.Listenable().Add(func(context.Context, shared.VersionedValue[int]) {})()
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
	}
	client := suite.Got(framework.NewClient("localhost:1", retry.None())).OK(t)
	for name, call := range map[string]struct {
		client *framework.Client
		path   string
		seed   int
		opts   []shared.Option
		want   error
	}{
		"nil client":  {nil, "/a", 1, nil, framework.ErrNotStarted},
		"zero client": {&framework.Client{}, "/a", 1, nil, framework.ErrNotStarted},
		"path":        {client, "a", 1, nil, framework.ErrInvalidPath},
		"large seed":  {client, "/a", 1 << 31, nil, framework.ErrInvalidOption},
		"small seed":  {client, "/a", -1<<31 - 1, nil, framework.ErrInvalidOption},
		"nil option":  {client, "/a", 1, []shared.Option{nil}, framework.ErrInvalidOption},
	} {
		_, err := shared.NewCount(call.client, call.path, call.seed, call.opts...)
		if !errors.Is(err, call.want) || call.client != client && !strings.Contains(err.Error(), "the client is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := shared.NewValue(client, "/a", "", nil); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("nil codec: %v", err)
	}
	if _, err := shared.NewValue(client, "/a", "\xff", codec.String()); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("a seed that cannot be encoded: %v", err)
	}
	c := suite.Got(shared.NewCount(client, "/a", 1)).OK(t)
	if err := c.Start(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
		t.Errorf("Start with a client that is not: %v", err)
	}
	if _, err := c.Set(t.Context(), 1); !errors.Is(err, framework.ErrNotStarted) {
		t.Errorf("Set before Start: %v", err)
	}
}

// What is wrong with an argument is said before anything is sent.
func TestArguments(t *testing.T) {
	onServers(t, func(e *env) {
		e.start()
		var none context.Context
		_, err := e.count.Set(e.t.Context(), 1<<31)
		suite.WantErr(e.t, err, framework.ErrInvalidOption)
		_, _, err = e.count.TrySet(e.t.Context(), e.count.VersionedValue(), -1<<31-1)
		suite.WantErr(e.t, err, framework.ErrInvalidOption)
		_, err = e.count.Update(e.t.Context(), nil)
		suite.WantErr(e.t, err, framework.ErrInvalidOption)
		_, err = e.count.Set(none, 1)
		suite.WantErr(e.t, err, framework.ErrInvalidOption)
		suite.WantErr(e.t, e.count.Close(none), framework.ErrInvalidOption)
		for range e.count.Updates(none) {
			e.t.Error("Updates without a context has a value")
		}
		_, _, err = e.count.TrySet(e.t.Context(), shared.VersionedValue[int]{Version: -1, Zxid: 5}, 1)
		suite.WantErr(e.t, err, framework.ErrBadVersion)
		there, err := e.writer.CheckExists().ForPath(e.t.Context(), e.path)
		if err != nil || there {
			e.t.Errorf("the node is there: %t, %v", there, err)
		}
	})
}
