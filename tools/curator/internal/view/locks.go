// Package view reads what the commands show: locks with their holders and waiters, elections, queues,
// services and nodes. It prints them as tables, JSON or YAML, once or each time that they change. The JSON
// of its types is stable. It changes nothing at the servers. What it reads is not a snapshot: nodes are
// read one after the other. The functions that read are safe for concurrent use, and return an error when
// ctx ends.
package view

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

// LockAt returns the lock at path, nil if there is none. A semaphore of Java's layout may be free; other locks that
// are free cannot be told from other nodes.
func LockAt(ctx context.Context, client *framework.Client, path string) (*Lock, error) {
	i, err := locks.Inspect(ctx, client, path)
	if err != nil || i.Kind == "" {
		return nil, err
	}
	lock := &Lock{Path: path, Kind: i.Kind, Holders: contenders(i.Holders), Waiters: contenders(i.Waiters)}
	if i.Kind == layout.KindSemaphoreV2 {
		return readSemaphore(ctx, client, lock)
	}
	return lock, nil
}

const (
	// undecidedFor bounds how long DecidedLock looks at a lease. A lease that is granted is undecided only
	// until its owner has listed the leases and released the semaphore's mutex.
	undecidedFor = time.Second
	lookPause    = 50 * time.Millisecond
)

// DecidedLock returns the lock at path, as LockAt does. While a lease of a semaphore is undecided it looks again,
// for a second at most: then the lease is taken for one that waits, which is wrong only if its owner stands
// still just then. It does so for the lease with the token, or for any lease if the token is 0.
func DecidedLock(ctx context.Context, client *framework.Client, path string, token int64) (*Lock, error) {
	for begun := time.Now(); ; {
		lock, err := LockAt(ctx, client, path)
		if err != nil || lock == nil || lock.Undecided == nil || token != 0 && token != lock.Undecided.Token || time.Since(begun) >= undecidedFor {
			return lock, err
		}
		if err := wait.For(ctx, lookPause); err != nil {
			return nil, err
		}
	}
}

// Locks returns the locks at path and below it, ordered by path. A node that cannot be listed, or that
// has children of different kinds of locks, is a Lock with an Error. If the node at path does not
// exist, the error matches framework.ErrNoNode.
func Locks(ctx context.Context, client *framework.Client, path string) ([]Lock, error) {
	f := &lockFinder{client: client, found: []Lock{}}
	if _, err := client.GetChildren().ForPath(ctx, path); errors.Is(err, framework.ErrNoNode) {
		return nil, err
	}
	err := f.find(ctx, path)
	return f.found, err
}

type lockFinder struct {
	client *framework.Client
	found  []Lock
}

// find adds the lock at path, or if there is none the locks below path.
func (f *lockFinder) find(ctx context.Context, path string) error {
	names, err := f.client.GetChildren().ForPath(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return nil // it was deleted meanwhile
	case errors.Is(err, framework.ErrNoAuth):
		f.fail(path, err)
		return nil
	case err != nil:
		return err
	case len(names) == 0:
		return nil
	}
	if path != "/" { // the root cannot be a lock
		done, err := f.inspect(ctx, path)
		if done || err != nil {
			return err
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := f.find(ctx, join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// inspect adds the lock at path. done reports that there are no locks below path.
func (f *lockFinder) inspect(ctx context.Context, path string) (done bool, err error) {
	lock, err := LockAt(ctx, f.client, path)
	switch {
	case errors.Is(err, locks.ErrKindMismatch), errors.Is(err, framework.ErrNoAuth):
		f.fail(path, err)
		return false, nil
	case err != nil || lock == nil:
		return false, err
	case len(lock.Holders)+len(lock.Waiters) == 0:
		// The mutex of a semaphore that is free is no lock of its own: a client may come meanwhile.
		return lock.Kind == layout.KindSemaphoreV2, nil
	}
	f.found = append(f.found, *lock)
	return true, nil
}

func (f *lockFinder) fail(path string, err error) {
	f.found = append(f.found, Lock{Path: path, Holders: []Contender{}, Waiters: []Contender{}, Error: err.Error()})
}

// Lock is a lock that somebody holds or waits for.
type Lock struct {
	Path    string      `json:"path"`
	Kind    string      `json:"kind"` // "mutex", "read-write", "semaphore-v2", "latch", or "" with an error
	Holders []Contender `json:"holders"`
	Waiters []Contender `json:"waiters"` // in order
	Error   string      `json:"error,omitempty"`
	// Undecided is the lease that the first waiter of a semaphore-v2 is taking. It becomes a holder at
	// once, or waits until another lease is returned: see DecidedLock.
	Undecided *Contender `json:"-"`
}

// Contender is a holder or a waiter. Fields that are not known are "" or 0.
type Contender struct {
	Node    string `json:"node"`
	Owner   string `json:"owner"` // label, host and pid as text, or the data of Java's node
	Label   string `json:"label,omitempty"`
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Session string `json:"session"` // hexadecimal, as in ZooKeeper's logs
	Token   int64  `json:"token"`   // the fencing token
	Since   Time   `json:"since"`   // when its node was created, by the server's clock
	// RevocationRequested says that somebody has asked the owner to release the lock. The request
	// has replaced the owner's name in the node.
	RevocationRequested bool `json:"revocationRequested"`
	// TraceParent is the span of its acquisition, in the form of the W3C.
	TraceParent string `json:"-"`

	session int64
	hasID   bool // the node's data is the id of an election's participant
}

// name returns the name of the contender's node.
func (c Contender) name() string { return baseOf(c.Node) }

func contenders(list []locks.Contender) []Contender {
	found := make([]Contender, 0, len(list)) // not nil, so that it is not null in JSON
	for _, c := range list {
		owner := layout.ParseOwner([]byte(c.Data))
		session := ""
		if c.Token != 0 { // otherwise the client may not read the node, and nothing of it is known
			session = output.Hex(c.SessionID)
		}
		found = append(found, Contender{
			Node: c.Path, Owner: c.Owner, Label: owner.Label, Host: owner.Host, PID: owner.PID,
			Session: session, Token: c.Token, Since: Time{c.Since.UTC()},
			RevocationRequested: c.Data == layout.RevokeRequest, TraceParent: c.TraceParent,
			session: c.SessionID, hasID: layout.IsParticipantID([]byte(c.Data)),
		})
	}
	return found
}

// readSemaphore tells the holders of a semaphore in Java's layout from its waiters. lock has all leases as
// holders, which were listed before the waiters. It returns nil if the node only has children of such
// names.
func readSemaphore(ctx context.Context, client *framework.Client, lock *Lock) (*Lock, error) {
	names, err := childrenOf(ctx, client, lock.Path)
	if err != nil {
		return nil, err
	}
	leases, err := childrenOf(ctx, client, lock.Path+"/"+layout.LeasesDir)
	if err != nil {
		return nil, err
	}
	if !layout.IsSemaphoreV2(layout.CountChildren(names), countOf(lock.Holders), countOf(lock.Waiters)) {
		return nil, nil
	}
	// The owner of a lease that was given up meanwhile is not among the waiters any more, so the lease
	// would look like a holder's.
	slices.Sort(leases)
	lock.Holders = slices.DeleteFunc(lock.Holders, func(c Contender) bool {
		_, found := slices.BinarySearch(leases, c.name())
		return !found
	})
	s := layout.ReadSemaphoreV2(owned(lock.Holders), owned(lock.Waiters))
	result := &Lock{Path: lock.Path, Kind: lock.Kind, Holders: pick(lock.Holders, s.Holders), Waiters: pick(lock.Waiters, s.Waiters)}
	if s.Undecided != nil {
		result.Undecided = &pick(lock.Holders, []layout.Owned{*s.Undecided})[0]
	}
	return result, nil
}

// childrenOf returns the names of a node's children, none if it is missing.
func childrenOf(ctx context.Context, client *framework.Client, path string) ([]string, error) {
	names, err := client.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

func countOf(list []Contender) layout.Children {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name()
	}
	return layout.CountChildren(names)
}

func owned(list []Contender) []layout.Owned {
	nodes := make([]layout.Owned, len(list))
	for i, c := range list {
		nodes[i] = layout.Owned{Name: c.name(), Session: c.session, Czxid: c.Token}
	}
	return nodes
}

// pick returns the contenders of some nodes, in the order of the nodes.
func pick(list []Contender, nodes []layout.Owned) []Contender {
	byName := make(map[string]Contender, len(list))
	for _, c := range list {
		byName[c.name()] = c
	}
	picked := make([]Contender, len(nodes)) // not nil, so that it is not null in JSON
	for i, n := range nodes {
		picked[i] = byName[n.Name]
	}
	return picked
}

// LockRows returns the rows of a table of locks.
func LockRows(list []Lock) [][]string {
	rows := [][]string{{"PATH", "KIND", "PLACE", "OWNER", "FOR", "TOKEN", "SESSION"}}
	for _, lock := range list {
		for _, c := range lock.Holders {
			rows = append(rows, lockRow(lock, "holder", c))
		}
		for i, c := range lock.Waiters {
			rows = append(rows, lockRow(lock, "waiter "+strconv.Itoa(i+1), c))
		}
		if lock.Error != "" {
			rows = append(rows, []string{lock.Path, "?", "-", lock.Error, "-", "-", "-"})
		}
	}
	return rows
}

func lockRow(lock Lock, place string, c Contender) []string {
	return []string{lock.Path, lock.Kind, place, OwnerOf(c), Age(c.Since.Time), strconv.FormatInt(c.Token, 10), orDash(c.Session)}
}

// OwnerOf returns the name of a contender for a table or a message.
func OwnerOf(c Contender) string {
	switch {
	case c.RevocationRequested:
		return "(revocation requested)"
	case c.Owner == "":
		return "(unknown)"
	}
	return c.Owner
}
