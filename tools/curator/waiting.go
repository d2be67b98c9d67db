package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/view"
)

const (
	// firstLog is the length of a wait when it is first logged. It is logged again each time it is
	// twice as long.
	firstLog = 5 * time.Second
	// firstStatus is the length of a wait when the status line first shows it. A short wait does
	// not make the screen flicker.
	firstStatus = 300 * time.Millisecond
	// statusPause is the pause between two updates of the status line.
	statusPause = time.Second
	// lookShare bounds the load of reading long queues: after reading the queue, waiting pauses for
	// lookShare times as long as that took.
	lookShare = 20
)

// tellWaiting shows or logs the wait for a lock until stop is called.
func (h *holding) tellWaiting(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	w := &waiting{holding: h, begun: time.Now()}
	go func() {
		defer close(done)
		if width := terminalWidth(h.stderr); width > 0 {
			w.show(ctx, width)
		} else {
			w.log(ctx)
		}
	}()
	return func() {
		cancel()
		<-done
		if w.shown {
			h.notes.endStatus()
		}
	}
}

// waiting shows or logs the wait for a lock.
type waiting struct {
	*holding
	begun time.Time
	shown bool      // there was a status line
	next  time.Time // when to read the queue again
	who   string    // who held the lock at the last look
}

// log logs the wait at growing intervals.
func (w *waiting) log(ctx context.Context) {
	for after := firstLog; pause(ctx, after-time.Since(w.begun)); after *= 2 {
		w.look(ctx)
		if ctx.Err() == nil {
			w.notes.say("%s", w.text())
		}
	}
}

// show updates the status line.
func (w *waiting) show(ctx context.Context, width int) {
	for wait := firstStatus; pause(ctx, wait); wait = statusPause {
		if !time.Now().Before(w.next) {
			w.look(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		text := []rune(w.text())
		w.notes.status(string(text[:min(len(text), max(width-len("curator: ")-1, 0))]))
		w.shown = true
	}
}

// look reads the queue: who holds the lock, and our place.
func (w *waiting) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	begun := time.Now()
	lock, err := view.LockAt(ctx, w.client, w.path)
	w.next = time.Now().Add(lookShare * time.Since(begun))
	if err != nil {
		w.who = "the ensemble does not answer"
		return
	}
	w.who = w.kind.held + " by " + holders(lock)
	if lock == nil {
		return
	}
	if len(lock.Holders) > 0 {
		since := lock.Holders[0].Since
		w.who += fmt.Sprintf(", whose node was created at %s", since.Local().Format(time.DateTime))
	}
	session := sessionName(w.client.SessionID())
	if place := slices.IndexFunc(lock.Waiters, func(c view.Contender) bool { return c.Session == session }); place >= 0 {
		w.who += fmt.Sprintf("; number %d of %d in the queue", place+1, len(lock.Waiters))
	}
}

func (w *waiting) text() string {
	return fmt.Sprintf("waiting for %s, %v so far: %s", w.path, time.Since(w.begun).Round(time.Second), w.who)
}

// pause waits for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
