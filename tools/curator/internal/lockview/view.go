// Package lockview finds the locks below a path, with their holders and waiters. The JSON of its types
// is stable. It only reads. A result is not a snapshot: nodes are read one after the other. Its
// functions are safe for concurrent use, and return an error when ctx ends.
package lockview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/locks"
)

// Lock is a lock that somebody holds or waits for.
type Lock struct {
	Path    string      `json:"path"`
	Kind    string      `json:"kind"` // "mutex", "read-write", "semaphore-v2", "latch", or "" with an error
	Holders []Contender `json:"holders"`
	Waiters []Contender `json:"waiters"` // in order
	Error   string      `json:"error,omitempty"`
}

// Contender is a holder or a waiter. Fields that are not known are "" or 0.
type Contender struct {
	Node    string    `json:"node"`
	Owner   string    `json:"owner"` // label, host and pid as text, or the data of Java's node
	Label   string    `json:"label,omitempty"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Session string    `json:"session"` // hexadecimal, as in ZooKeeper's logs
	Token   int64     `json:"token"`   // the fencing token
	Since   time.Time `json:"since"`   // when its node was created, by the server's clock
	// RevocationRequested says that somebody has asked the owner to release the lock. The request
	// has replaced the owner's name in the node.
	RevocationRequested bool `json:"revocationRequested"`
}

// revokeRequest is the data that Curator's Revoker writes to a holder's node.
const revokeRequest = "__REVOKE__"

// Of returns the lock at path, nil if nobody holds it or waits for it.
func Of(ctx context.Context, client *framework.Client, path string) (*Lock, error) {
	i, err := locks.Inspect(ctx, client, path)
	if err != nil || i.Kind == "" {
		return nil, err
	}
	return &Lock{Path: path, Kind: i.Kind, Holders: contenders(i.Holders), Waiters: contenders(i.Waiters)}, nil
}

func contenders(list []locks.Contender) []Contender {
	found := make([]Contender, 0, len(list)) // not nil, so that it is not null in JSON
	for _, c := range list {
		owner := telemetry.ParseOwner([]byte(c.Data))
		found = append(found, Contender{
			Node: c.Path, Owner: c.Owner, Label: owner.Label, Host: owner.Host, PID: owner.PID,
			Session: fmt.Sprintf("0x%x", uint64(c.SessionID)), Token: c.Token, Since: c.Since.UTC(),
			RevocationRequested: c.Data == revokeRequest,
		})
	}
	return found
}

// Below returns the locks at path and below it, ordered by path. A node that cannot be listed, or that
// has children of different kinds of locks, is a Lock with an Error. If the node at path does not
// exist, the error matches framework.ErrNoNode.
func Below(ctx context.Context, client *framework.Client, path string) ([]Lock, error) {
	f := &finder{client: client, found: []Lock{}}
	if _, err := client.GetChildren().ForPath(ctx, path); errors.Is(err, framework.ErrNoNode) {
		return nil, err
	}
	err := f.find(ctx, path)
	return f.found, err
}

type finder struct {
	client *framework.Client
	found  []Lock
}

// find adds the lock at path, or if there is none the locks below path.
func (f *finder) find(ctx context.Context, path string) error {
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
		done, err := f.inspect(ctx, path, names)
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
func (f *finder) inspect(ctx context.Context, path string, names []string) (done bool, err error) {
	lock, err := Of(ctx, f.client, path)
	switch {
	case errors.Is(err, locks.ErrKindMismatch), errors.Is(err, framework.ErrNoAuth):
		f.fail(path, err)
		return false, nil
	case err != nil || lock == nil:
		return false, err
	case lock.Kind == semaphore && !slices.Contains(names, "leases"):
		return false, nil // a node that is only named locks, and is not that of a semaphore
	case len(lock.Holders)+len(lock.Waiters) == 0:
		return lock.Kind == semaphore, nil
	}
	f.found = append(f.found, *lock)
	return true, nil
}

// semaphore is the kind of lock whose contenders are in nodes below it.
const semaphore = "semaphore-v2"

func (f *finder) fail(path string, err error) {
	f.found = append(f.found, Lock{Path: path, Holders: []Contender{}, Waiters: []Contender{}, Error: err.Error()})
}

func join(path, name string) string {
	if path == "/" {
		return "/" + name
	}
	return path + "/" + name
}
