package rolling

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
)

// witness has clients that tell what a step has cost. It is for one goroutine.
type witness struct {
	root      string
	observers []*observer
	counted   atomic.Int64 // increments that were acknowledged
	doubtful  atomic.Int64 // increments that may have been applied
}

const (
	// startTimeout bounds the start of all observers, and their end.
	startTimeout = time.Minute
	// checkTimeout bounds the questions about one step. Before that a lease of a session that lives can be
	// verified, because servers are there.
	checkTimeout = time.Minute
	// callTimeout bounds one call of the load.
	callTimeout = 30 * time.Second
	// loadPause is the pause between two calls of the load of one client.
	loadPause = 20 * time.Millisecond
)

// newWitness starts an observer on each client. The caller must close the witness also after an error, and the
// clients after it.
func newWitness(ctx context.Context, clients []*framework.Client, root string) (*witness, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the witnesses have not started after %v", startTimeout))
	defer cancel()
	w := &witness{root: root, observers: make([]*observer, len(clients))}
	if _, err := clients[0].Create().CreatingParentsIfNeeded().ForPath(ctx, root+treeNode); err != nil {
		return w, err
	}
	return w, realservers.Each(ctx, -1, clients, func(ctx context.Context, i int, client *framework.Client) (err error) {
		w.observers[i], err = newObserver(ctx, client, root, fmt.Sprint(i+1), len(clients))
		return err
	})
}

// close releases everything that the observers hold.
func (w *witness) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer cancel()
	started := slices.DeleteFunc(slices.Clone(w.observers), func(o *observer) bool { return o == nil })
	return realservers.Each(ctx, -1, started, func(ctx context.Context, _ int, o *observer) error { return o.close(ctx) })
}

// during does a step under the load of all observers, between two times of load alone, and fills in what it has
// cost. Its error says that this is not known.
func (w *witness) during(ctx context.Context, row *Row, pause time.Duration, step func() error) error {
	ended, counted := w.ended(), w.counted.Load()
	stop := w.load(ctx)
	err := wait.For(ctx, pause)
	begin := time.Now()
	if err == nil {
		err = step()
	}
	row.Took = time.Since(begin)
	if err == nil {
		err = wait.For(ctx, pause)
	}
	stop()
	if err != nil {
		return err
	}
	row.Counted = w.counted.Load() - counted
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := w.check(ctx, row); err != nil {
		return err
	}
	row.Ended = int(w.ended() - ended)
	return nil
}

// ended returns how many connections have ended.
func (w *witness) ended() (n int64) {
	for _, o := range w.observers {
		n += o.ended.Load()
	}
	return n
}

// load starts the load, and returns what stops it and waits for its last calls.
func (w *witness) load(ctx context.Context) (stop func()) {
	loading, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	for _, o := range w.observers {
		working.Go(func() {
			for n := 0; wait.For(loading, loadPause) == nil; n++ {
				w.call(ctx, o, n)
			}
		})
	}
	return func() {
		cancel()
		working.Wait()
	}
}

// call increments the counter, and changes the tree: the client's node there, and a child that comes and goes.
// Failures are no news here: what counts is what the servers have in the end.
func (w *witness) call(ctx context.Context, o *observer, n int) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	switch _, err := o.counter.Increment(ctx); {
	case err == nil:
		w.counted.Add(1)
	case framework.MaybeApplied(err):
		w.doubtful.Add(1)
	}
	path := w.root + treeNode + "/" + o.name
	_, _ = o.client.Create().OrSetData().WithData(fmt.Append(nil, n)).ForPath(ctx, path)
	if n%2 == 0 {
		_, _ = o.client.Create().ForPath(ctx, path+"/child")
	} else {
		_ = o.client.Delete().ForPath(ctx, path+"/child")
	}
}

// check asks the servers, after a step and without load, for everything that must be as it was. What is lost
// counts once.
func (w *witness) check(ctx context.Context, row *Row) error {
	var mu sync.Mutex
	err := realservers.Each(ctx, -1, w.observers, func(ctx context.Context, _ int, o *observer) error {
		kept, lost, err := o.verify(ctx)
		mu.Lock()
		defer mu.Unlock()
		row.Kept += kept
		row.Lost = append(row.Lost, lost...)
		return err
	})
	if err == nil {
		err = w.checkCounter(ctx, row)
	}
	if err == nil {
		err = w.checkCaches(ctx, row)
	}
	slices.Sort(row.Lost)
	return err
}

// verify asks the quorum for the leases and the node. It forgets what is lost. Its error is that of a server
// that did not answer.
func (o *observer) verify(ctx context.Context) (kept int, lost []string, err error) {
	lose := func(what string, err error) { lost = append(lost, fmt.Sprintf("client %s: %s: %v", o.name, what, err)) }
	o.held = slices.DeleteFunc(o.held, func(h held) bool {
		switch e := h.lease.Verify(ctx); {
		case e == nil:
			kept++
		case errors.Is(e, locks.ErrNotHeld):
			lose(h.what, e)
			_ = h.lease.Release(ctx) // it says the same
			return true
		default:
			err = errors.Join(err, fmt.Errorf("client %s: verify its %s: %w", o.name, h.what, e))
		}
		return false
	})
	if err != nil {
		return kept, lost, err
	}
	czxid, err := o.created(ctx)
	switch {
	case errors.Is(err, framework.ErrNoNode), err == nil && czxid != o.czxid:
		lose("kept node", fmt.Errorf("created by %#x, now by %#x", o.czxid, czxid))
		err, o.czxid = nil, czxid
	case err == nil:
		kept++
	}
	if session := o.client.SessionID(); session != o.session {
		lose("session", fmt.Errorf("%#x, now %#x", o.session, session))
		o.session = session
	}
	return kept, lost, err
}

// checkCounter compares the counter with the increments: each that was acknowledged counts, and one in doubt
// may.
func (w *witness) checkCounter(ctx context.Context, row *Row) error {
	o := w.observers[0]
	if err := o.client.Sync().ForPath(ctx, w.root+counterNode); err != nil {
		return err
	}
	n, err := o.counter.Get(ctx)
	if least, most := w.counted.Load(), w.counted.Load()+w.doubtful.Load(); err == nil && (n < least || n > most) {
		row.Wrong = append(row.Wrong, fmt.Sprintf("the counter is %d after %d increments, and %d in doubt", n, least, most-least))
	}
	return err
}

// checkCaches makes a last change, and compares every cache that has it with what the servers have.
func (w *witness) checkCaches(ctx context.Context, row *Row) error {
	first := w.observers[0].client
	stat, err := first.SetData().ForPath(ctx, w.root+treeNode, []byte(row.What))
	if err != nil {
		return err
	}
	want := map[string]string{}
	if err := readTree(ctx, first, w.root+treeNode, want); err != nil {
		return err
	}
	for _, o := range w.observers {
		if err := o.cache.Await(ctx, stat.Mzxid); err != nil {
			row.Wrong = append(row.Wrong, fmt.Sprintf("the cache of client %s does not get the change %#x: %v", o.name, stat.Mzxid, err))
			continue
		}
		has := map[string]string{}
		for path, node := range o.cache.All() {
			has[path] = string(node.Data)
		}
		if !maps.Equal(has, want) {
			row.Wrong = append(row.Wrong, fmt.Sprintf("the cache of client %s has %s, the servers %s", o.name, describe(has), describe(want)))
		}
	}
	return nil
}

// describe returns nodes and their data on one line.
func describe(tree map[string]string) string {
	var all []string
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		all = append(all, fmt.Sprintf("%s=%q", path, tree[path]))
	}
	return strings.Join(all, " ")
}

// readTree reads a node and all below it.
func readTree(ctx context.Context, client *framework.Client, path string, into map[string]string) error {
	data, err := client.GetData().ForPath(ctx, path)
	if err != nil {
		return err
	}
	into[path] = string(data)
	names, err := client.GetChildren().ForPath(ctx, path)
	for _, name := range names {
		if err == nil {
			err = readTree(ctx, client, path+"/"+name, into)
		}
	}
	return err
}
