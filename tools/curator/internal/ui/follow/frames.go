package follow

import (
	"context"
	"sync"
	"time"
)

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
