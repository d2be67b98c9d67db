package replay

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/model"
)

// Lock is a lock that a workload uses.
type Lock struct {
	Workload, Path string
	Kind           model.LockKind
	Leases         int // of a semaphore
}

// inexact is how much earlier the time of a transaction may be than what has led to it: a leader notes
// milliseconds, by a clock that may have been stepped.
const inexact = int64(time.Second)

// TraceOf returns what events say of a lock, until the workers are asked to end. The workers must have one
// goroutine each for it, and an acquisition one node.
func TraceOf(events []history.Event, lock Lock) (*model.Trace, error) {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	end := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Last })
	last := int64(math.MaxInt64)
	if end >= 0 {
		last = events[end].At - inexact
		events = events[:end]
	}
	b := newBuilder(lock)
	b.findClients(events)
	b.findSessions(events)
	for _, e := range inOrderOfServers(events) {
		if err := b.change(e); err != nil {
			return nil, err
		}
	}
	for _, e := range events {
		if err := b.note(e); err != nil {
			return nil, err
		}
	}
	for _, c := range slices.Backward(b.trace.Changes) {
		if c.At < last {
			break
		}
		b.trace.Last++
	}
	b.trace.Lock, b.trace.Leases, b.trace.Clients = lock.Kind, lock.Leases, len(b.clients)
	return &b.trace, nil
}

// owner is whose session it is, and which one of that client.
type owner struct{ client, epoch int }

// builder makes a trace.
type builder struct {
	lock     Lock
	clients  map[string]int // by the name of the worker
	sessions map[int64]owner
	nodes    map[string]int
	owners   []owner               // of the nodes
	downs    map[string]*downgrade // of each process
	trace    model.Trace
}

func newBuilder(lock Lock) *builder {
	return &builder{lock: lock, clients: map[string]int{}, sessions: map[int64]owner{}, nodes: map[string]int{}, downs: map[string]*downgrade{}}
}

// client returns the client of a process.
func (b *builder) client(process string) (int, bool) {
	name, _, _ := strings.Cut(process, ".")
	c, ok := b.clients[name]
	return c, ok
}

func (b *builder) findClients(events []history.Event) {
	for _, e := range events {
		if name, _, _ := strings.Cut(e.Process, "."); e.Kind == history.Begin && e.Workload == b.lock.Workload {
			if _, known := b.clients[name]; !known {
				b.clients[name] = len(b.clients)
			}
		}
	}
}

// findSessions numbers the sessions of each client. A new process has another one, also if it never
// came to it.
func (b *builder) findSessions(events []history.Event) {
	epochs := make([]int, len(b.clients))
	fresh := make([]bool, len(b.clients))
	for c := range fresh {
		fresh[c] = true
	}
	for _, e := range events {
		c, ok := b.client(e.Process)
		if !ok {
			continue
		}
		switch e.Kind {
		case history.Ready:
			if _, known := b.sessions[e.Session]; known || e.Session == 0 {
				continue
			}
			if !fresh[c] {
				epochs[c]++
			}
			fresh[c] = false
			b.sessions[e.Session] = owner{c, epochs[c]}
		case history.Ended:
			epochs[c]++
			fresh[c] = true
		}
	}
}

// inOrderOfServers returns what was committed, in the order of the zxids. Its times rise, as those of a
// later leader may not.
func inOrderOfServers(events []history.Event) (committed []history.Event) {
	for _, e := range events {
		switch e.Kind {
		case history.Created, history.Deleted, history.Marked, history.Over:
			committed = append(committed, e)
		}
	}
	slices.SortStableFunc(committed, func(a, b history.Event) int { return cmp.Compare(a.Value, b.Value) })
	return committed
}

// reads reports whether an event says something about the lock.
func (b *builder) reads(e history.Event) bool {
	switch e.Kind {
	case history.Created, history.Deleted, history.Marked:
		parent, _, _ := strings.Cut(strings.TrimPrefix(e.Node, b.lock.Path), "/")
		return parent == "" && strings.HasPrefix(e.Node, b.lock.Path)
	case history.Over:
		_, ours := b.sessions[e.Session]
		return ours
	}
	_, client := b.client(e.Process)
	_, said := noteKinds[e.Kind]
	return client && said && (e.Workload == b.lock.Workload || e.Workload == "")
}

// change adds a transaction.
func (b *builder) change(e history.Event) error {
	if !b.reads(e) {
		return nil
	}
	by, ours := b.sessions[e.Session]
	c := model.Change{At: e.At, Client: by.client, Epoch: by.epoch}
	node, known := b.nodes[e.Node]
	switch {
	case e.Kind == history.Over:
		c.Kind = model.SessionEnded
	case e.Kind == history.Created && e.Node == b.lock.Path:
		c.Kind = model.QueueMade
	case e.Node == b.lock.Path:
		c.Kind = model.QueueRemoved
	case e.Kind == history.Created && ours:
		c.Kind, c.Node = model.Created, len(b.owners)
		c.Reads = layout.IsReader(path.Base(e.Node))
		b.nodes[e.Node] = c.Node
		b.owners = append(b.owners, by)
	case e.Kind == history.Created:
		return fmt.Errorf("replay: %s was created by session %#x, which is no worker's", e.Node, e.Session)
	case !known:
		return fmt.Errorf("replay: %s was deleted, and never created", e.Node)
	default:
		c.Node, c.Kind = node, model.Taken
		if ours && by.client == b.owners[node].client {
			c.Kind = model.Deleted
			if e.Kind == history.Marked {
				c.Kind = model.Released
			}
		}
		c.Client, c.Epoch = b.owners[node].client, b.owners[node].epoch
	}
	b.trace.Changes = append(b.trace.Changes, c)
	return nil
}

// noteKinds are those that do not depend on more than the event's kind.
var noteKinds = map[history.Kind]model.NoteKind{
	history.Begin: model.Begun, history.Grant: model.Granted, history.Held: model.Held, history.Lost: model.Lost,
	history.Refused: model.Refused, history.Release: model.Releasing, history.Released: model.ReleasedBadly,
	history.Parted: model.Parted, history.Ready: model.Connected, history.Killing: model.Killing, history.Ended: model.Dead,
}

// note adds what a client has noted.
func (b *builder) note(e history.Event) error {
	kind, said := noteKinds[e.Kind]
	if !said || !b.reads(e) {
		return nil
	}
	c, _ := b.client(e.Process)
	kind, said = b.ofDowngrade(e, kind)
	if !said {
		return nil
	}
	n := model.Note{At: e.At, Kind: kind, Client: c}
	switch e.Kind {
	case history.Begin:
		n.Reads = e.Mode == history.Shared
	case history.Grant:
		node, known := b.nodes[e.Node]
		if !known {
			return fmt.Errorf("replay: %s was granted to %s, and never created", e.Node, e.Process)
		}
		n.Node = node
	case history.Released:
		if e.Text == history.ReleaseOK {
			n.Kind = model.ReleasedWell
		}
	case history.Ready:
		n.Epoch = b.sessions[e.Session].epoch
	}
	b.trace.Notes = append(b.trace.Notes, n)
	return nil
}

// downgrade is what a process has noted of a writer that is being released.
type downgrade struct {
	write int64 // the operation of the writer
	read  int64 // that of its downgrade; 0 without one
	done  bool  // it has succeeded
}

// ofDowngrade returns the kind of the note for an event that may be one of a downgrade: a process that
// begins as a reader while it releases as a writer. It reports whether the event is to be noted.
func (b *builder) ofDowngrade(e history.Event, kind model.NoteKind) (model.NoteKind, bool) {
	d := b.downs[e.Process]
	switch {
	case e.Kind == history.Release:
		b.downs[e.Process] = &downgrade{write: e.Op}
	case d == nil:
	case e.Kind == history.Begin:
		d.read = e.Op
		return model.Downgrading, true
	case e.Op == d.read && e.Kind == history.Refused:
		d.read = 0
		return model.NotDowngraded, true
	case e.Op == d.read && !d.done && e.Kind == history.Lost:
		d.done = true
		return model.NotDowngraded, true
	case e.Op == d.read && e.Kind == history.Grant:
		d.done = true
		return model.Downgraded, true
	case e.Op == d.write && e.Kind == history.Released:
		delete(b.downs, e.Process)
		return kind, !d.done // the release of the reader follows
	}
	return kind, true
}
