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

// end takes note of the end of the ServiceDiscovery, and returns what is to be closed. The lists of
// parts stay as they are now.
func (p *parts) end() []framework.Component {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return slices.Collect(maps.Keys(p.open))
}

// ended reports whether the ServiceDiscovery has ended.
func (p *parts) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// closeAll closes parts at the same time.
func closeAll(ctx context.Context, open []framework.Component) error {
	var closing sync.WaitGroup
	errs := make([]error, len(open))
	for i, c := range open {
		closing.Go(func() { errs[i] = c.Close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}
