package follow

import (
	"context"
	"sync"
	"time"
)

// Frame is what a subscriber is sent.
type Frame struct {
	Name   string // "state" for everything, "change" for what has changed
	Number int
	Body   []byte // JSON, which must not be changed
}

// kept is how many frames a subscriber may be behind.
const kept = 32

// frames are the last changes that were told.
type frames struct {
	mu     sync.Mutex
	list   []Frame // consecutive
	number int     // of the last one
	next   chan struct{}
	subs   int
	whole  Frame // the last state that was made
}

// publish adds a frame of which the body is made for its number.
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

// subscribers returns how many there are.
func (f *frames) subscribers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.subs
}

// count adds a subscriber until the function that it returns is called.
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

// after returns the frame behind a number. Without one, wait is closed when there is one; too far
// behind, whole is true.
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

// state returns a whole state, made by body unless there is one of the last frame's number.
func (f *frames) state(body func(number int) []byte) Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole.Body == nil || f.whole.Number != f.number {
		f.whole = Frame{"state", f.number, body(f.number)}
	}
	return f.whole
}

// Subscription is what one subscriber has got so far. It is for one goroutine.
type Subscription struct {
	frames *frames
	state  func() Frame // everything
	number int          // of the last frame; 0 for none
	done   func()
}

// Next returns the next frame, a whole state at first. With ok false there was none for patience.
// When ctx ends it returns ctx's error.
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
