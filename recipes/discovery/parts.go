package discovery

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/go-curator/curator/framework"
)

// parts are the caches that a ServiceDiscovery has made and that are not closed yet.
type parts struct {
	mu     sync.Mutex
	open   map[framework.Component]struct{}
	closed bool
}

func newParts() *parts { return &parts{open: map[framework.Component]struct{}{}} }

// add adds a part, unless everything is closed.
func (p *parts) add(c framework.Component) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return framework.ErrClosed
	}
	p.open[c] = struct{}{}
	return nil
}

// drop forgets a part, which is closed.
func (p *parts) drop(c framework.Component) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// close closes all parts.
func (p *parts) close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	open := slices.Collect(maps.Keys(p.open))
	p.mu.Unlock()
	var closing sync.WaitGroup
	errs := make([]error, len(open))
	for i, c := range open {
		closing.Go(func() { errs[i] = c.Close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}
