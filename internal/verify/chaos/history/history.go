// Package history has what happened in a run under attack: the events that workers and the
// nemesis noted, each with its time on one clock, and the log that they are kept in.
//
// The clock is CLOCK_MONOTONIC, which all processes of a machine share: Go reads it here, Java
// as System.nanoTime, Python as time.monotonic_ns. Elsewhere than on Linux that does not hold,
// and only the events of one process can be compared.
package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Kind is what an event says.
type Kind string

// The kinds of events of workers. An operation is what begins with Begin; its other events have
// the same Op.
const (
	// Begin: an acquire, or another call that can wait, begins. Value is how long it may wait. For an
	// Enter, Token is the zxid of a change of the barrier's children that was seen before, or 0.
	Begin Kind = "begin"
	// Grant: the call has returned a lease, which was believed at this time.
	Grant Kind = "grant"
	// Held: the lease was still believed at this time.
	Held Kind = "held"
	// Lost: the lease is not believed any more, as Text says. Its time is after the loss.
	Lost Kind = "lost"
	// Release: the release begins.
	Release Kind = "release"
	// Released: the release has returned; Text is one of the results below.
	Released Kind = "released"
	// Refused: the call has returned an error, as Text says.
	Refused Kind = "refused"

	// Write: a change of a register begins. Key names it, Text is the new text.
	Write Kind = "write"
	// Wrote: the change was acknowledged. Before has the text that it has replaced.
	Wrote Kind = "wrote"
	// Unwritten: the change was refused, and not applied.
	Unwritten Kind = "unwritten"
	// Doubtful: it is not known whether the change was applied. Before has what was read.
	Doubtful Kind = "doubtful"

	// Put: an item, Text, is to be put into a queue.
	Put Kind = "put"
	// Stored: the item is in the queue.
	Stored Kind = "stored"
	// Take: an item, Text, was handed to a consumer.
	Take Kind = "take"
	// Commit: the effect of the item, Text, is to be committed.
	Commit Kind = "commit"
	// Done: the effect of the item, Text, was committed.
	Done Kind = "done"

	// Entered: the call of Enter has returned nil.
	Entered Kind = "entered"
	// Member: the member that has entered has Node, of Session, which was there at this time or
	// later. Value is the node's czxid. A guest has no node. Token is the zxid of the last change of the
	// barrier's children that was seen then.
	Member Kind = "member"
	// Leave: the call of Leave begins.
	Leave Kind = "leave"
	// Left: the call of Leave has returned; Text is empty or the error.
	Left Kind = "left"

	// Changed: what caches watch was changed in one transaction. Value is its zxid.
	Changed Kind = "changed"
	// Seen: a snapshot of a cache. Value is its zxid, Token that of the change that it shows, or 0
	// if it may be of several moments; Text is what differs in it.
	Seen Kind = "seen"
	// Awaited: the cache has a change that was made before.
	Awaited Kind = "awaited"

	// Ready: the worker has a connection, and Session.
	Ready Kind = "ready"
	// Parted: the worker has lost its connection.
	Parted Kind = "parted"
	// Remains: what the worker has left when everything is closed: Value goroutines, Text.
	Remains Kind = "remains"
	// Memory: what the worker's heap has after a collection: Value bytes.
	Memory Kind = "memory"
	// Failed: something that must not happen has happened in the worker, as Text says.
	Failed Kind = "failed"
)

// The kinds of events of the nemesis and of the conductor of the run.
const (
	// Fault: a fault begins; Text says which.
	Fault Kind = "fault"
	// Healed: a fault is over; Text says which.
	Healed Kind = "healed"
	// Deleting: Node is being deleted by hand.
	Deleting Kind = "deleting"
	// Expiring: Session is being ended.
	Expiring Kind = "expiring"
	// Stopping: Process is being stopped.
	Stopping Kind = "stopping"
	// Continued: Process runs again.
	Continued Kind = "continued"
	// Killing: Process is being killed.
	Killing Kind = "killing"
	// Ended: Process has ended; Text says how, if that was not asked for.
	Ended Kind = "ended"
	// Stepped: the wall clock of Process, which is a server or a worker, is set to be Value nanoseconds
	// ahead of the right time from now on.
	Stepped Kind = "stepped"
	// Quiet: all faults are over.
	Quiet Kind = "quiet"
	// Last: the workers are asked to end.
	Last Kind = "last"
)

// The kinds of what the servers have committed, as their logs say at the end of a run. The time is that
// at which the leader took the request, to the millisecond. Value is the zxid.
const (
	// Created: Session has created Node.
	Created Kind = "created"
	// Deleted: Session has deleted Node.
	Deleted Kind = "deleted"
	// Marked: Session has deleted Node, and has created and deleted its release marker.
	Marked Kind = "marked"
	// Over: Session has ended.
	Over Kind = "over"
)

// The results of a release, the Text of Released.
const (
	ReleaseOK      = ""
	ReleaseLost    = "lost"
	ReleasePending = "pending"
)

// Mode says what else may be held at the same time.
type Mode string

// The modes.
const (
	Exclusive Mode = "x" // nothing
	Shared    Mode = "s" // what is shared, too, up to Max
)

// Event is one event. Fields that say nothing about it are zero.
type Event struct {
	At       int64  `json:"t"`            // on the clock of Now
	Process  string `json:"p,omitempty"`  // the worker, or the process that the nemesis has attacked
	Kind     Kind   `json:"e"`            //
	Workload string `json:"w,omitempty"`  //
	Op       int64  `json:"op,omitempty"` // the number of the operation within its process
	Part     int    `json:"part,omitempty"`
	Lock     string `json:"lock,omitempty"` // the path
	Mode     Mode   `json:"mode,omitempty"`
	Max      int    `json:"max,omitempty"` // of what is shared; 0 is no maximum
	Token    int64  `json:"token,omitempty"`
	Node     string `json:"node,omitempty"`
	Session  int64  `json:"session,omitempty"`
	Key      string `json:"key,omitempty"`
	Before   string `json:"before,omitempty"`
	Value    int64  `json:"value,omitempty"`
	Text     string `json:"text,omitempty"`
}

// Time returns the event's time since another one, for people.
func (e Event) Time(since int64) time.Duration { return time.Duration(e.At - since) }

// Log writes events as lines of JSON. Its methods may be called from several goroutines. A
// process may be killed at any moment: every line is one write.
type Log struct {
	mu  sync.Mutex
	out io.Writer
	err error
}

// NewLog returns a log that writes to out.
func NewLog(out io.Writer) *Log { return &Log{out: out} }

// Add writes an event. It sets its time if that is zero.
func (l *Log) Add(e Event) {
	if e.At == 0 {
		e.At = Now()
	}
	line, err := json.Marshal(e)
	if err == nil {
		line = append(line, '\n')
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.err == nil {
		_, err = l.out.Write(line)
	}
	if l.err == nil {
		l.err = err
	}
}

// Err returns the first error of the log.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// maxLine bounds a line: stacks of goroutines are events, too.
const maxLine = 4 << 20

// Read calls each with the events of a log, until it ends. A last line that was cut off when its
// process was killed is left out; another line that is no event is an error.
func Read(in io.Reader, each func(e Event)) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if len(line) > maxLine {
			return fmt.Errorf("a line of %d bytes", len(line))
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%w: %q", err, line)
		}
		each(e)
	}
}
