package hold

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/screen"
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
func (h *Holding) tellWaiting(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	w := &waiting{Holding: h, begun: time.Now()}
	go func() {
		defer close(done)
		if width := screen.Columns(h.Stderr); width > 0 {
			w.show(ctx, width)
		} else {
			w.log(ctx)
		}
	}()
	return func() {
		cancel()
		<-done
		if w.shown {
			h.Notes.EndStatus()
		}
	}
}

// waiting shows or logs the wait for a lock.
type waiting struct {
	*Holding
	begun time.Time
	shown bool      // there was a status line
	next  time.Time // when to read the queue again
	who   string    // who held the lock at the last look
}

// log logs the wait at growing intervals.
func (w *waiting) log(ctx context.Context) {
	for after := firstLog; wait.For(ctx, after-time.Since(w.begun)) == nil; after *= 2 {
		w.look(ctx)
		if ctx.Err() == nil {
			w.Notes.Say("%s", w.text())
		}
	}
}

// show updates the status line.
func (w *waiting) show(ctx context.Context, width int) {
	for pause := firstStatus; wait.For(ctx, pause) == nil; pause = statusPause {
		if !time.Now().Before(w.next) {
			w.look(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		text := []rune(w.text())
		w.Notes.Status(string(text[:min(len(text), max(width-len("curator: ")-1, 0))]))
		w.shown = true
	}
}

// look reads the queue: who holds the lock, and our place.
func (w *waiting) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	begun := time.Now()
	lock, err := view.LockAt(ctx, w.Client, w.Path)
	w.next = time.Now().Add(lookShare * time.Since(begun))
	if err != nil {
		w.who = "the ensemble does not answer"
		return
	}
	w.who = w.Kind.Held + " by " + holders(lock)
	if lock == nil {
		return
	}
	if len(lock.Holders) > 0 && !lock.Holders[0].Since.IsZero() { // zero if its node may not be read
		since := lock.Holders[0].Since
		w.who += fmt.Sprintf(", whose node was created at %s", since.Local().Format(time.DateTime))
	}
	session := output.Hex(w.Client.SessionID())
	if place := slices.IndexFunc(lock.Waiters, func(c view.Contender) bool { return c.Session == session }); place >= 0 {
		w.who += fmt.Sprintf("; number %d of %d in the queue", place+1, len(lock.Waiters))
	}
}

func (w *waiting) text() string {
	return fmt.Sprintf("waiting for %s, %v so far: %s", w.Path, time.Since(w.begun).Round(time.Second), w.who)
}

// lookTimeout bounds the requests for the holder of a lock, which is only for a message.
const lookTimeout = time.Second

// ownerLabel returns the label of the lock's owner: the names of curator's command and of CMD,
// without the arguments of CMD, which may be secret.
func ownerLabel(k Kind, argv []string) string {
	label := "curator " + k.Name
	if len(argv) > 0 {
		label += " -- " + filepath.Base(argv[0])
	}
	label = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, label)
	const most = 64
	if len(label) > most {
		label = strings.ToValidUTF8(label[:most], "")
	}
	return label
}

// DefaultID returns the id of a participant of an election that was given none.
func DefaultID(k Kind, argv []string) string {
	host, _ := os.Hostname() // without a name the id is less useful, but valid
	return fmt.Sprintf("%s on %s, pid %d", ownerLabel(k, argv), host, os.Getpid())
}

// notAcquired returns an Exit that says who holds the lock.
func (h *Holding) notAcquired(ctx context.Context) error {
	who := "others"
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if lock, err := view.LockAt(ctx, h.Client, h.Path); err == nil {
		who = holders(lock)
		if lock != nil && len(lock.Holders) > 0 && lock.Holders[0].TraceParent != "" {
			who = fmt.Sprintf("%s, traceparent %s", who, lock.Holders[0].TraceParent)
		}
	}
	if h.Try {
		return console.Exitf(h.ConflictCode, "%s %s is %s by %s", h.Kind.Noun, h.Path, h.Kind.Held, who)
	}
	return console.Exitf(h.ConflictCode, "%s %s was not %s within %v: it is %s by %s", h.Kind.Noun, h.Path, h.Kind.Got, h.Timeout, h.Kind.Held, who)
}

// holders returns the owner of a lock's first holder, and the number of the other holders, as text.
func holders(lock *view.Lock) string {
	if lock == nil || len(lock.Holders) == 0 || lock.Holders[0].Owner == "" {
		return "others"
	}
	who := output.Line(lock.Holders[0].Owner)
	switch more := len(lock.Holders) - 1; more {
	case 0:
		return who
	case 1:
		return who + " and another"
	default:
		return fmt.Sprintf("%s and %d others", who, more)
	}
}
