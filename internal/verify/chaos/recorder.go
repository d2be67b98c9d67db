package chaos

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

// recorder keeps the events of all processes: all in a file, and in memory without those that add
// nothing to others.
type recorder struct {
	log  *history.Log
	file *os.File

	mu       sync.Mutex
	events   []history.Event
	held     map[operation]int // where the last Held of an operation is
	sessions map[string]int64  // by the name of the worker
}

type operation struct {
	process string
	op      int64
}

func newRecorder(path string) (*recorder, error) {
	var file *os.File
	var err error
	if path == "" {
		file, err = os.CreateTemp("", "chaos-*.jsonl")
	} else {
		file, err = os.Create(path)
	}
	if err != nil {
		return nil, err
	}
	return &recorder{log: history.NewLog(file), file: file, held: map[operation]int{}, sessions: map[string]int64{}}, nil
}

// note takes an event.
func (r *recorder) note(e history.Event) {
	r.log.Add(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	name, _, _ := strings.Cut(e.Process, ".")
	o := operation{e.Process, e.Op}
	switch e.Kind {
	case history.Ready, history.Grant:
		r.sessions[name] = e.Session
	case history.Held: // the next one says all that this one does
		if i, ok := r.held[o]; ok {
			r.events[i] = e
			return
		}
		r.held[o] = len(r.events)
	case history.Released:
		delete(r.held, o)
	}
	r.events = append(r.events, e)
}

// sessionOf returns the session that a worker had last.
func (r *recorder) sessionOf(name string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[name]
}

// count returns how many events there are.
func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

// stored returns the items that are known to have been stored in the queue.
func (r *recorder) stored() (items []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == history.Stored {
			items = append(items, e.Text)
		}
	}
	return items
}

// all returns the events in the order of their times.
func (r *recorder) all() []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	sorted := slices.Clone(r.events)
	slices.SortStableFunc(sorted, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	return sorted
}

// since returns the events from the last one of a kind on, in the order of their times.
func (r *recorder) since(kind history.Kind) []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range slices.Backward(r.events) {
		if e.Kind == kind {
			later := slices.Clone(r.events[i:])
			slices.SortStableFunc(later, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
			return later
		}
	}
	return nil
}

func (r *recorder) close() error { return r.file.Close() }
