package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/recipes/locks"
)

const (
	// firstLog is how long a wait lasts before it is logged. Each further line comes when
	// the wait is twice as long.
	firstLog = 5 * time.Second
	// firstStatus is how long a wait lasts before a terminal tells of it, so that a lock
	// that is nearly free does not make the screen flicker.
	firstStatus = 300 * time.Millisecond
	// statusPause is the pause between two states of the line on a terminal.
	statusPause = time.Second
	// lookShare is how many times as long as a look at the queue the pause after it is:
	// long queues are expensive to look at.
	lookShare = 20
)

// tellWaiting tells of the wait for a lock until the function that it returns is called.
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

// waiting tells of a wait.
type waiting struct {
	*holding
	begun time.Time
	shown bool // on a terminal
	next  time.Time
	who   string // of the last look
}

// log writes a line at intervals that grow.
func (w *waiting) log(ctx context.Context) {
	for after := firstLog; pause(ctx, after-time.Since(w.begun)); after *= 2 {
		w.look(ctx)
		if ctx.Err() == nil {
			w.notes.say("%s", w.text())
		}
	}
}

// show keeps one line on the terminal.
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

// look finds out who holds the lock and what our place is.
func (w *waiting) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	begun := time.Now()
	i, err := locks.Inspect(ctx, w.client, w.path)
	w.next = time.Now().Add(lookShare * time.Since(begun))
	if err != nil {
		w.who = "the ensemble does not answer"
		return
	}
	w.who = w.kind.verb + " by " + holders(i)
	if len(i.Holders) > 0 {
		since := i.Holders[0].Since
		w.who += fmt.Sprintf(", whose node is from %s", since.Local().Format(time.DateTime))
	}
	session := w.client.SessionID()
	if place := slices.IndexFunc(i.Waiters, func(c locks.Contender) bool { return c.SessionID == session }); place >= 0 {
		w.who += fmt.Sprintf("; number %d of %d in the queue", place+1, len(i.Waiters))
	}
}

func (w *waiting) text() string {
	return fmt.Sprintf("waiting for %s, %v so far: %s", w.path, time.Since(w.begun).Round(time.Second), w.who)
}

// pause waits for d, and tells whether ctx has not ended meanwhile.
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
