package leader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
	"github.com/go-curator/curator/recipes/locks"
)

// leaveWait bounds the wait for the deletion of the node of a Start that failed.
const leaveWait = time.Second

// candidate is the place of a latch in the line, and its terms. One goroutine at a time uses it:
// that of Start, then its own, then that of Close. Its states, and what ends each of them:
//
//	joining    has no node, or not in this session     the list that shows the node
//	waiting    others are ahead                        a list that shows none, or the loss of the node
//	leading    has a lease                             the end of the lease
//	suspended  the lease has ended, the node may live  a list in the same session, or a new session
//	leaving    the node is being deleted               the answer; then joining, or the end
//
// The contender goes through joining, waiting and suspended, see package lockqueue. The end of a
// lease comes from the hooks of its node, before anybody else can lead (rule L4), and not from
// this goroutine. What belongs to a former node changes nothing about the present one, because
// the contender forgets its watches together with its nodes (rule L1).
type candidate struct {
	*election
	silent    bool
	terms     terms
	contender *lockqueue.Contender // of the present Start
	standing  bool                 // it has joined, and is counted as a twin
	failing   bool                 // a failure was logged, and is not over
}

func (c *candidate) spec() *lockqueue.Spec {
	return &lockqueue.Spec{
		Client: c.api,
		Owned:  ephemeral.Config{Client: c.api, ErrorPolicy: c.client.ErrorPolicy(), Unwatched: c.logUnwatched},
		Dir:    c.path, FullDir: c.full, Name: layout.LatchMark, Rules: c.rules, Stays: true, CleanUp: leaveWait,
		Node: zkclient.NodeSpec{
			Path: c.path + "/" + layout.LatchMark, Mode: zkclient.EphemeralSequential, Protection: true, Parents: zkclient.ContainerParents,
			Data: []byte(c.id), Compressed: zkclient.Never, // Java reads the data
		},
	}
}

// join takes the place in the line (rule L2). When it fails nothing is left of it, as far as the
// server could be reached.
func (c *candidate) join(ctx context.Context) error {
	c.contender = lockqueue.New(c.spec())
	joined := false
	defer func() { // also when a policy of the user panics
		if !joined {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
			defer cancel()
			_ = c.contender.Leave(ctx) // the error of the join says more
		}
	}()
	defer c.contender.End(ctx)
	if _, err := c.contender.Next(ctx); err != nil { // a list shows the node now
		return c.explain(err)
	}
	joined, c.standing = true, true
	second := twinsOf(c.api).add(c.twin())
	c.api.Log(func() {
		c.terms.candidate.Standing(ctx)
		if second {
			c.client.Logger().Warn("two leader latches of one client stand for the same election with the same id", "path", c.path, "id", c.id)
		}
	})
	return nil
}

func (c *candidate) twin() twin { return twin{c.full, c.id} }

// run is the goroutine of the latch, until ctx ends or the client is closed.
func (c *candidate) run(ctx context.Context) {
	for {
		lease, err := c.stand(ctx)
		if err != nil {
			return
		}
		c.terms.begin(ctx, lease)
		select {
		case <-lease.Context().Done():
		case <-ctx.Done():
			return // leave ends the term
		}
		c.terms.end(ctx, true)
		if errors.Is(lease.Err(), locks.ErrReleased) {
			c.stepDown(ctx)
		}
	}
}

// stand waits until the candidate leads. It tries again after every error, except when ctx has
// ended or the client is closed.
func (c *candidate) stand(ctx context.Context) (lease *locks.Lease, err error) {
	p := lifecycle.NewPauses()
	for {
		lease, err = c.lead(ctx)
		if err == nil {
			c.recovered()
			return lease, nil
		}
		if ctx.Err() != nil || errors.Is(err, framework.ErrClosed) {
			return nil, err
		}
		if !framework.Retryable(err) {
			c.failed(err)
			_ = c.contender.Leave(ctx) // a node that cannot lead must not block the others
		}
		if err := p.Await(ctx, c.client, err); err != nil && (ctx.Err() != nil || errors.Is(err, framework.ErrClosed)) {
			return nil, err
		}
	}
}

// lead waits until nobody is ahead, and returns a lease on the node.
func (c *candidate) lead(ctx context.Context) (*locks.Lease, error) {
	defer c.contender.End(ctx)
	for {
		step, err := c.contender.Next(ctx)
		if err != nil {
			return nil, err
		}
		if step.First == nil { // others are ahead
			continue
		}
		lease, err := locks.OnNode(ctx, c.client, c.path, layout.KindLatch, step.First[0])
		if err == nil {
			c.contender.Held()
			return lease, nil
		}
		if err = c.contender.Again(ctx, err); err != nil {
			return nil, err
		}
	}
}

// stepDown waits until the node of a lease that was released is deleted (rule L8). The latch then
// stands at the end of the line.
func (c *candidate) stepDown(ctx context.Context) {
	if err := c.contender.Leave(ctx); err != nil && ctx.Err() == nil {
		c.failed(fmt.Errorf("%w: %w", locks.ErrReleasePending, err))
	}
}

// leave ends the candidacy: first the lease, then the node (rules L4 and L9).
func (c *candidate) leave(ctx context.Context) error {
	if c.contender == nil { // of a Start in the background
		return nil
	}
	if c.standing {
		twinsOf(c.api).remove(c.twin())
	}
	ctx, cancel := lifecycle.Reachable(ctx, c.api)
	defer cancel()
	released := c.terms.present.Load().Release(ctx)
	c.terms.end(ctx, !c.silent)
	err := c.contender.Leave(ctx)
	switch {
	case err != nil && !errors.Is(released, locks.ErrReleasePending):
		return c.explain(fmt.Errorf("%w: %w", locks.ErrReleasePending, err))
	case err == nil && !errors.Is(released, locks.ErrReleasePending) && errors.Is(released, locks.ErrLockLost):
		return nil // the term had ended by itself, and the node has gone
	}
	return released
}

// explain adds the path to an error.
func (c *candidate) explain(err error) error { return fmt.Errorf("leader latch %s: %w", c.path, err) }

// failed logs the first error that another try may not change.
func (c *candidate) failed(err error) {
	if !c.failing {
		c.failing = true
		c.api.Log(func() {
			c.client.Logger().Warn("leader latch cannot stand for election; it will try again", "path", c.path, "error", err)
		})
	}
}

// recovered logs that the candidate leads after a failure.
func (c *candidate) recovered() {
	if c.failing {
		c.failing = false
		c.api.Log(func() { c.client.Logger().Info("leader latch stands for election again", "path", c.path) })
	}
}

// logUnwatched logs that the server refuses the watch on the leader's node.
func (c *candidate) logUnwatched(err error) {
	c.api.Log(func() {
		c.client.Logger().Warn("leader's node cannot be watched: if somebody deletes it, the leader does not learn of it",
			"path", c.path, "error", err)
	})
}

// twins counts the latches of one client by election and id. Two of them are two participants
// that nobody can tell apart, which is rarely meant.
type twins struct {
	mu    sync.Mutex
	count map[twin]int
}

type twin struct{ full, id string }

// twinsOf returns those of a client.
func twinsOf(api *zkclient.Client) *twins { return zkclient.SharedOf[twins](api) }

// add counts a latch, and reports whether it is the second one.
func (t *twins) add(of twin) (second bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count = map[twin]int{}
	}
	t.count[of]++
	return t.count[of] == 2
}

func (t *twins) remove(of twin) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count[of]--; t.count[of] == 0 {
		delete(t.count, of)
	}
}
