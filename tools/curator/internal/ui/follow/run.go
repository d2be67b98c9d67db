package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curator/internal/health"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

// Times of a Follower.
const (
	maxLag       = 50 * time.Millisecond  // the maximum lag of the cache during continuous changes
	frameGap     = 150 * time.Millisecond // the minimum time between two frames
	tick         = 500 * time.Millisecond // the maximum time between two checks for changes, because some come with time
	askGap       = 2 * time.Second        // the pause between two requests for the servers' state
	askTimeout   = 1500 * time.Millisecond
	restartPause = 2 * time.Second // the pause after the tree could not be read
	closeTimeout = 2 * time.Second
)

// Run follows the tree until ctx ends. It joins all its goroutines.
func (f *Follower) Run(ctx context.Context) {
	stop := f.cfg.Client.ConnectionStateListenable().Add(func(_ context.Context, now state.ConnectionState) { f.onState(now) })
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { f.publish(ctx) })
	wg.Go(func() { f.ask(ctx) })
	f.follow(ctx)
	wg.Wait()
}

// publish publishes a frame after each change.
func (f *Follower) publish(ctx context.Context) {
	timer := time.NewTicker(tick)
	defer timer.Stop()
	for {
		select {
		case <-f.dirty:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		f.frame()
		if err := wait.For(ctx, frameGap); err != nil {
			return
		}
	}
}

// follow reads the tree and follows it, and starts again after an error.
func (f *Follower) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := f.read(ctx); err != nil {
			f.mu.Lock()
			f.why = explain(f.cfg.Root, err)
			f.mu.Unlock()
			f.dirty.Set()
		}
		_ = wait.For(ctx, restartPause) // ctx ends the loop
	}
}

// explain returns a sentence that says why the tree cannot be read.
func explain(root string, err error) string {
	switch {
	case errors.Is(err, framework.ErrNoAuth):
		return fmt.Sprintf("The node %s may not be read with these credentials.", root)
	case errors.Is(err, framework.ErrTooLarge):
		return fmt.Sprintf("A node has more children than a reply can carry: %v", err)
	}
	return err.Error()
}

// read reads the tree and follows it until ctx ends.
func (f *Follower) read(ctx context.Context) error {
	tree, err := cache.NewCuratorCache(f.cfg.Client, f.cfg.Root, cache.WithoutData(), cache.WithMaxLag(maxLag))
	if err != nil {
		return err
	}
	view, err := cache.NewTyped(tree, func(node cache.ChildData) (model.Facts, error) { return model.Read(node.Data), nil })
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = tree.Close(ctx) // it fails only if listeners have not returned, and there are none
	}()
	if err := tree.Start(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	f.cache, f.view = tree, view
	f.mu.Unlock()
	for events := range view.Updates(ctx) {
		f.apply(events)
	}
	return ctx.Err()
}

// ask asks the servers for their state, at first once, and then while there are subscribers.
func (f *Follower) ask(ctx context.Context) {
	for ctx.Err() == nil {
		if len(f.cfg.Servers) > 0 && (f.frames.subscribers() > 0 || f.knows() == nil) {
			f.askOnce(ctx)
		}
		_ = wait.For(ctx, askGap) // ctx ends the loop
	}
}

func (f *Follower) knows() *Ensemble {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ensemble
}

func (f *Follower) askOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var figures []health.Figures
	var wg sync.WaitGroup
	wg.Go(func() { figures = health.AskFigures(ctx, f.cfg.Dial, f.cfg.Servers) })
	servers := health.Ask(ctx, f.cfg.Dial, f.cfg.Servers, f.cfg.Admin)
	wg.Wait()
	f.mu.Lock()
	f.ensemble = &Ensemble{
		Asked: time.Now().UnixMilli(), Healthy: health.Healthy(servers), Problems: health.Problems(servers),
		Servers: servers, Figures: figures,
	}
	f.asked = true
	f.mu.Unlock()
	f.dirty.Set()
}

// Frame is a message to subscribers.
type Frame struct {
	Name   string // "state" for a whole state, "change" for the changes since the previous frame
	Number int
	Body   []byte // JSON; it must not be modified
}

// kept is the number of frames that are kept for slow subscribers.
const kept = 32

// frames are the last frames of changes.
type frames struct {
	mu     sync.Mutex
	list   []Frame // with consecutive numbers
	number int     // of the last frame
	next   chan struct{}
	subs   int
	whole  Frame // the last whole state
}

// publish adds a frame of changes. body returns its body for its number.
func (f *frames) publish(body func(number int) []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.number++
	f.list = append(f.list, Frame{"change", f.number, body(f.number)})
	if len(f.list) > kept {
		f.list = append(f.list[:0:0], f.list[1:]...)
	}
	close(f.next)
	f.next = make(chan struct{})
}

// subscribers returns the number of subscribers.
func (f *frames) subscribers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.subs
}

// count counts a subscriber until done is called.
func (f *frames) count() (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.subs--
	}
}

// after returns the frame after a number. If there is none yet, wait is closed when there is one. If
// that frame is not kept any more, whole is true.
func (f *frames) after(number int) (frame Frame, whole bool, wait <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number == f.number {
		return Frame{}, false, f.next
	}
	if i := len(f.list) - (f.number - number); number > 0 && number < f.number && i >= 0 {
		return f.list[i], false, nil
	}
	return Frame{}, true, nil
}

// state returns a whole state with the number of the last frame. It calls body unless it has that
// state already.
func (f *frames) state(body func(number int) []byte) Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole.Body == nil || f.whole.Number != f.number {
		f.whole = Frame{"state", f.number, body(f.number)}
	}
	return f.whole
}

// Subscription returns frames to one subscriber. It is for one goroutine at a time.
type Subscription struct {
	frames *frames
	state  func() Frame // returns the whole state
	number int          // of the last frame that was returned; 0 for none
	done   func()
}

// Next returns the next frame. The first frame is a whole state. ok is false if there was no frame for
// the time patience. When ctx ends, Next returns its error.
func (s *Subscription) Next(ctx context.Context, patience time.Duration) (frame Frame, ok bool, err error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return Frame{}, false, err
		}
		frame, whole, wait := s.frames.after(s.number)
		if whole {
			frame = s.state()
		}
		if frame.Body != nil {
			s.number = frame.Number
			return frame, true, nil
		}
		select {
		case <-wait:
		case <-timer.C:
			return Frame{}, false, nil
		case <-ctx.Done():
			return Frame{}, false, ctx.Err()
		}
	}
}

// Close ends the subscription.
func (s *Subscription) Close() { s.done() }
