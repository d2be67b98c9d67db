package barriers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/retry"
)

func TestMisuse(t *testing.T) {
	client := suite.Got(framework.NewClient("localhost:1", retry.None())).OK(t)
	for name, row := range map[string]struct {
		client *framework.Client
		path   string
		want   error
	}{
		"nil client":  {nil, "/a", framework.ErrNotStarted},
		"zero client": {&framework.Client{}, "/a", framework.ErrNotStarted},
		"path":        {client, "a", framework.ErrInvalidPath},
	} {
		_, err := barriers.NewDistributedBarrier(row.client, row.path)
		_, err2 := barriers.NewDistributedDoubleBarrier(row.client, row.path, 1)
		if !errors.Is(err, row.want) || !errors.Is(err2, row.want) {
			t.Errorf("%s: %v, %v", name, err, err2)
		}
	}
	for _, n := range []int{0, -1} {
		if _, err := barriers.NewDistributedDoubleBarrier(client, "/a", n); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("%d members: %v", n, err)
		}
	}
	single := suite.Got(barriers.NewDistributedBarrier(client, "/a")).OK(t)
	double := suite.Got(barriers.NewDistributedDoubleBarrier(client, "/a", 1)).OK(t)
	for _, s := range []*barriers.DistributedBarrier{nil, {}, single} { // the client is not started
		wantAll(t, framework.ErrNotStarted, s.Set(t.Context()), s.Remove(t.Context()), s.Wait(t.Context()))
	}
	for _, d := range []*barriers.DistributedDoubleBarrier{nil, {}, double} {
		wantAll(t, framework.ErrNotStarted, d.Enter(t.Context()), d.Leave(t.Context()))
	}
	var none context.Context
	wantAll(t, framework.ErrInvalidOption, single.Set(none), single.Remove(none), single.Wait(none), double.Enter(none), double.Leave(none))
}

func wantAll(t *testing.T, want error, errs ...error) {
	t.Helper()
	for i, err := range errs {
		if !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", i, err, want)
		}
	}
}

// A double barrier is one member, which is in once.
func TestEntered(t *testing.T) {
	onServers(t, func(e *env) {
		p := e.party(2)
		e.wantErr(p.Leave(e.t.Context()), barriers.ErrEntered)
		entering := p.enter()
		p.waiting()
		e.wantErr(p.Enter(e.t.Context()), barriers.ErrEntered)
		e.wantErr(p.Leave(e.t.Context()), barriers.ErrEntered)
		e.create("ready")
		entering.ok()
		e.wantErr(p.Enter(e.t.Context()), barriers.ErrEntered)
		suite.OK(e.t, p.Leave(e.t.Context()))
		e.wantErr(p.Leave(e.t.Context()), barriers.ErrEntered)
		e.wantChildren(0)
	})
}

// A path may be the root of a namespace, and the data is the client's default data, whatever
// the client does with data otherwise.
func TestNodes(t *testing.T) {
	onServers(t, func(e *env) {
		var parties []*party
		for range 2 {
			p := e.party(2, framework.WithNamespace(e.path[1:]), framework.WithCompression())
			barrier := suite.Got(barriers.NewDistributedDoubleBarrier(p.client, "/", 2)).OK(e.t)
			p.DistributedDoubleBarrier = barrier
			parties = append(parties, p)
		}
		a := parties[0].enter()
		name := e.untilNodes(1)[0]
		suite.OK(e.t, parties[1].Enter(e.t.Context()))
		a.ok()
		for _, node := range []string{name, "ready"} {
			var stat framework.Stat
			data, err := e.operator.GetData().StoringStatIn(&stat).ForPath(e.t.Context(), e.path+"/"+node)
			if err != nil || string(data) != "test" || (stat.EphemeralOwner != 0) != (node != "ready") {
				e.t.Errorf("%s has %q and the owner %x, %v", node, data, stat.EphemeralOwner, err)
			}
		}
		if len(name) != 36 || name[8] != '-' || name[14] != '4' {
			e.t.Errorf("the name %q is no UUID", name)
		}
		apart(parties...)
	})
}
