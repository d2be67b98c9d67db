package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

// runner is a selector with a client and a network of its own, whose terms a test ends.
type runner struct {
	*leader.LeaderSelector
	e       *env
	id      string
	client  *framework.Client
	network *suite.Network
	stop    context.CancelFunc
	ended   chan error // what Run has returned
	terms   chan *term
}

// term is one call of a runner's function.
type term struct {
	ctx   context.Context
	lease *locks.Lease
	end   chan error // what the function returns
}

func (e *env) selector(id string, opts ...any) *runner {
	e.t.Helper()
	var clientOpts []framework.Option
	selectorOpts := []leader.SelectorOption{leader.WithID(id)}
	for _, o := range opts {
		switch o := o.(type) {
		case framework.Option:
			clientOpts = append(clientOpts, o)
		case leader.SelectorOption:
			selectorOpts = append(selectorOpts, o)
		}
	}
	r := &runner{e: e, id: id, ended: make(chan error, 1), terms: make(chan *term)}
	r.client, r.network = e.b.Client(e.t, clientOpts...)
	selector := suite.Got(leader.NewLeaderSelector(r.client, e.path, selectorOpts...)).OK(e.t)
	r.LeaderSelector, e.selects = selector, true
	return r
}

// run starts Run, whose function ends when the test says so.
func (r *runner) run() *runner {
	r.e.t.Helper()
	return r.runWith(func(ctx context.Context, lease *locks.Lease) error {
		t := &term{ctx, lease, make(chan error)}
		r.terms <- t
		return <-t.end
	})
}

func (r *runner) runWith(take func(ctx context.Context, lease *locks.Lease) error) *runner {
	r.e.t.Helper()
	ctx, stop := context.WithCancel(r.e.t.Context())
	r.stop = stop
	go func() { r.ended <- r.Run(ctx, take) }()
	return r
}

// queued is run, and waits for the node behind n others.
func (r *runner) queued(n int) *runner {
	r.e.t.Helper()
	r.run()
	r.e.untilNodes(n + 1)
	return r
}

// leads waits for the next term.
func (r *runner) leads() *term {
	r.e.t.Helper()
	select {
	case t := <-r.terms:
		if r.Leadership() != t.lease {
			r.e.t.Errorf("%s has another lease than its function", r.id)
		}
		return t
	case err := <-r.ended:
		r.e.t.Fatalf("%s: Run returned %v", r.id, err)
	case <-time.After(20 * time.Second):
		r.e.t.Fatalf("%s does not lead; the nodes are %q", r.id, r.e.nodes())
	}
	return nil
}

func (r *runner) wantNoTerm() {
	r.e.t.Helper()
	select {
	case <-r.terms:
		r.e.t.Fatalf("%s leads", r.id)
	case <-time.After(50 * time.Millisecond):
	}
}

// wantEnd waits for the end of Run.
func (r *runner) wantEnd(wants ...error) {
	r.e.t.Helper()
	err := <-r.ended
	if len(wants) == 0 {
		wants = []error{nil}
	}
	suite.WantErr(r.e.t, err, wants...)
	if lease := r.Leadership(); lease != nil {
		r.e.t.Errorf("%s has a lease after the end of Run", r.id)
	}
}

// close ends Run between terms.
func (r *runner) close() {
	r.e.t.Helper()
	r.stop()
	r.wantEnd()
}

// wantCause waits for the end of the term's context, with this cause.
func (t *term) wantCause(test *testing.T, want error) {
	test.Helper()
	<-t.ctx.Done()
	suite.WantErr(test, context.Cause(t.ctx), want)
}
