package discoverygrpc_test

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc/resolver"

	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoverygrpc"
)

type instance = discovery.ServiceInstance[string]

// list is a service's instances that may be chosen.
type list struct {
	start func(ctx context.Context) error // nil succeeds

	mu      sync.Mutex
	now     []instance
	changed chan struct{}
	starts  int
	closes  int
	over    chan struct{} // closed by the registry's end
}

func newList(all ...instance) *list {
	return &list{now: all, changed: make(chan struct{}), over: make(chan struct{})}
}

func (l *list) Start(ctx context.Context) error {
	l.mu.Lock()
	l.starts++
	l.mu.Unlock()
	if l.start != nil {
		return l.start(ctx)
	}
	return nil
}

func (l *list) Close(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closes++
	return nil
}

func (l *list) Instance() (instance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.now) == 0 {
		return instance{}, fmt.Errorf("%w orders", discovery.ErrNoInstance)
	}
	return l.now[0], nil
}

func (l *list) set(all ...instance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = all
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *list) counts() (starts, closes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.starts, l.closes
}

func (l *list) Updates(ctx context.Context) iter.Seq[[]instance] {
	return func(yield func([]instance) bool) {
		for {
			l.mu.Lock()
			now, changed := l.now, l.changed
			l.mu.Unlock()
			if ctx.Err() != nil || !yield(now) {
				return
			}
			select {
			case <-changed:
			case <-l.over:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// registry has lists, and counts how often each was opened.
type registry struct {
	lists map[string]*list
	err   error

	mu     sync.Mutex
	opened []string
}

func (r *registry) open(name string) (discoverygrpc.Instances[string], error) {
	r.mu.Lock()
	r.opened = append(r.opened, name)
	r.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	return r.lists[name], nil
}

// conn is a ClientConn that takes note of what it is told.
type conn struct {
	resolver.ClientConn

	mu     sync.Mutex
	states []resolver.State
	errs   []error
}

func (c *conn) UpdateState(s resolver.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = append(c.states, s)
	return nil
}

func (c *conn) ReportError(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}

// addresses returns the last state's, and how many states there were.
func (c *conn) addresses() (addresses []string, states int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.states) > 0 {
		for _, a := range c.states[len(c.states)-1].Addresses {
			addresses = append(addresses, a.Addr)
		}
	}
	return addresses, len(c.states)
}

func (c *conn) errors() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.errs)
}

func target(t *testing.T, text string) resolver.Target {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return resolver.Target{URL: *u}
}
