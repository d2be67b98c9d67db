package nodes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/tracing"
)

// Misuse is refused, before anything is sent, with an error that says which argument it is about.
func TestArguments(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		node := func(client *framework.Client, path string, mode framework.CreateMode, opts ...nodes.Option) error {
			_, err := nodes.NewPersistentNode(client, path, mode, nil, opts...)
			return err
		}
		timed := func(ttl time.Duration, opts ...nodes.Option) error {
			_, err := nodes.NewPersistentTTLNode(client, "/a", ttl, nil, opts...)
			return err
		}
		member := func(client *framework.Client, path, id string, opts ...nodes.Option) error {
			_, err := nodes.NewGroupMember(client, path, id, nil, opts...)
			return err
		}
		for name, tt := range map[string]struct {
			err, want error
			text      string
		}{
			"nil client":         {node(nil, "/a", framework.Ephemeral), framework.ErrNotStarted, ""},
			"path":               {node(client, "a", framework.Ephemeral), framework.ErrInvalidPath, `"a"`},
			"root":               {node(client, "/", framework.Ephemeral), framework.ErrInvalidPath, "root"},
			"mode":               {node(client, "/a", 99), framework.ErrInvalidOption, "mode 99"},
			"negative mode":      {node(client, "/a", -1), framework.ErrInvalidOption, "mode -1"},
			"mode with TTL":      {node(client, "/a", framework.PersistentWithTTL), framework.ErrInvalidOption, "NewPersistentTTLNode"},
			"nil option":         {node(client, "/a", framework.Ephemeral, nil), framework.ErrInvalidOption, "nil"},
			"touch":              {node(client, "/a", framework.Ephemeral, nodes.WithTouch("t", 2)), framework.ErrInvalidOption, "WithTouch"},
			"empty ACL":          {node(client, "/a", framework.Ephemeral, nodes.WithACL()), framework.ErrInvalidOption, "WithACL"},
			"name":               {node(client, "/a", framework.Ephemeral, nodes.WithName("")), framework.ErrInvalidOption, "WithName"},
			"lines in name":      {node(client, "/a", framework.Ephemeral, nodes.WithName("a\nb")), framework.ErrInvalidOption, "WithName"},
			"long name":          {node(client, "/a", framework.Ephemeral, nodes.WithName(strings.Repeat("a", 129))), framework.ErrInvalidOption, "WithName"},
			"TTL of nanoseconds": {timed(1000), framework.ErrInvalidOption, "ttl"},
			"no TTL":             {timed(0), framework.ErrInvalidOption, "ttl"},
			"long TTL":           {timed(1 << 40 * time.Millisecond), framework.ErrInvalidOption, "ttl"},
			"touch factor":       {timed(time.Second, nodes.WithTouch("t", 1)), framework.ErrInvalidOption, "WithTouch"},
			"touch name":         {timed(time.Second, nodes.WithTouch("a/b", 2)), framework.ErrInvalidOption, "WithTouch"},
			"TTL below factor":   {timed(2*time.Millisecond, nodes.WithTouch("t", 3)), framework.ErrInvalidOption, "ttl"},
			"member: nil client": {member(nil, "/a", "id"), framework.ErrNotStarted, ""},
			"member: path":       {member(client, "a", "id"), framework.ErrInvalidPath, ""},
			"member: no id":      {member(client, "/a", ""), framework.ErrInvalidPath, "id"},
			"member: id":         {member(client, "/a", "b/c"), framework.ErrInvalidPath, "id"},
			"member: dots":       {member(client, "/a", ".."), framework.ErrInvalidPath, "id"},
			"member: protection": {member(client, "/a", "id", nodes.WithProtection()), framework.ErrInvalidOption, "WithProtection"},
		} {
			if !errors.Is(tt.err, tt.want) || !strings.Contains(tt.err.Error(), tt.text) {
				t.Errorf("%s: %v, want %v with %q", name, tt.err, tt.want, tt.text)
			}
		}
	})
}

// Nil and zero values fail closed, nil contexts are refused, and a second Start is an error.
func TestMisuse(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		ctx := t.Context()
		for name, n := range map[string]*nodes.PersistentNode{"nil": nil, "zero": {}} {
			suite.WantErr(t, n.Start(ctx), framework.ErrNotStarted)
			suite.WantErr(t, n.SetData(ctx, nil), framework.ErrNotStarted)
			n.CreatedListenable().Add(func(context.Context, string) {})
			if err := n.Close(ctx); err != nil || n.Data() != nil || n.ActualPath() != "" {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, m := range map[string]*nodes.GroupMember{"nil": nil, "zero": {}} {
			suite.WantErr(t, m.Start(ctx), framework.ErrNotStarted)
			suite.WantErr(t, m.SetPayload(ctx, nil), framework.ErrNotStarted)
			for range m.Updates(ctx) {
				t.Errorf("%s: an update", name)
			}
			if err := m.Close(ctx); err != nil || len(m.Members()) > 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		e.keep(framework.Ephemeral)
		var none context.Context
		suite.WantErr(t, e.node.Start(none), framework.ErrInvalidOption)
		suite.WantErr(t, e.node.SetData(none, nil), framework.ErrInvalidOption)
		suite.WantErr(t, e.node.Close(none), framework.ErrInvalidOption)
		e.start()
		suite.WantErr(t, e.node.Start(ctx), framework.ErrAlreadyStarted)

		data := []byte("mine")
		e.operate(e.node.SetData(ctx, data))
		data[0] = 'x'
		if got := e.node.Data(); string(got) != "mine" {
			t.Errorf("Data is %q", got)
		}
		e.node.Data()[0] = 'x'
		e.untilOwned("mine")
		e.closed()

		unused := e.keep(framework.Ephemeral)
		e.operate(unused.Close(ctx))
		suite.WantErr(t, unused.Start(ctx), framework.ErrClosed)
		suite.WantErr(t, unused.SetData(ctx, nil), framework.ErrClosed)
	})
}

// Recreations are counted by name, and without a name nothing is.
func TestMetrics(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		metrics := suite.NewMetrics()
		e := newEnv(t, b, framework.WithTracing(metrics.Option()))
		counted := func() (points []string) {
			for _, p := range metrics.Points(t) {
				if strings.HasPrefix(p, tracing.MetricNodeRecreations) {
					points = append(points, p)
				}
			}
			return points
		}
		for name, opts := range map[string][]nodes.Option{"": nil, "workers": {nodes.WithName("workers")}} {
			e.keep(framework.Ephemeral, opts...)
			e.start()
			for range 2 {
				e.delete()
				e.untilOwned(ours)
			}
			e.closed()
			var want []string
			if name != "" {
				want = []string{"curator.node.recreations{curator.node.name=workers} 2"}
			}
			if got := counted(); name != "" && !slices.Equal(got, want) || name == "" && len(got) > 1 {
				t.Errorf("counted %q, want %q", got, want)
			}
		}
		m, err := nodes.NewGroupMember(e.client, e.dir, "a", nil, nodes.WithName("group"))
		e.operate(err)
		e.operate(m.Start(t.Context()))
		e.operate(e.operator.Delete().ForPath(t.Context(), e.dir+"/a"))
		want := []string{"curator.node.recreations{curator.node.name=group} 1", "curator.node.recreations{curator.node.name=workers} 2"}
		suite.Eventually(t, "the metrics", func() bool { return slices.Equal(counted(), want) })
		e.operate(m.Close(t.Context()))
	})
}
