package locks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
)

// Inspection is a look at a lock from outside. It is out of date when it is returned.
type Inspection struct {
	Path string
	// Kind is "mutex", "read-write" or "semaphore-v2"; "" if nobody holds the lock or
	// waits. An InterProcessSemaphore cannot be told from a mutex: all but its first
	// holder are among the waiters.
	Kind    string
	Holders []Contender
	Waiters []Contender // in order
}

// Contender is a holder or a waiter.
type Contender struct {
	Path      string
	Token     int64     // see Lease.Token; of a reader that was a writer it is another one
	SessionID int64     // of the client that owns the node
	Since     time.Time // when it began to wait, by the server's clock
	// Owner is what its node says of it: "orders-api on web-7, pid 4242", or as much of that
	// as there is. Of one that says less, as Java's, it is the first line of the data, as a
	// rule an address; of one that was asked to let go, "".
	Owner string
	// TraceParent is where it acquires or acquired, as the W3C has it, "" if it does not say
	// or is not traced. See tracing.WithoutHolderLinks.
	TraceParent string
	Data        string // of its node, all of it
}

// Inspect lists the holders and waiters of the lock at path. Who goes away meanwhile is left
// out. Errors: framework.ErrInvalidPath, ErrKindMismatch, or the server's.
func Inspect(ctx context.Context, client *framework.Client, path string) (*Inspection, error) {
	i := inspector{ctx: ctx, client: client, result: &Inspection{Path: path}}
	names, err := i.children(path)
	if err != nil {
		return nil, err
	}
	switch kinds := kindsOf(names); {
	case len(kinds) > 1:
		return nil, fmt.Errorf("lock %s: %w: %s", path, ErrKindMismatch, strings.Join(kinds, " and "))
	case len(kinds) == 0:
		return i.result, nil
	default:
		i.result.Kind = kinds[0]
	}
	switch i.result.Kind {
	case mutexKind:
		i.queue(path, names, mutexRules(StandardLockInternalsDriver{}))
	case readWriteKind:
		i.readWrite(path, names)
	default:
		i.leases(path)
	}
	if i.err != nil {
		return nil, i.err
	}
	return i.result, nil
}

// kindsOf returns the kinds of locks that children belong to.
func kindsOf(names []string) []string {
	var kinds []string
	for _, name := range names {
		if kind := kindOf(name); kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// inspector collects an Inspection. Its first error ends it.
type inspector struct {
	ctx    context.Context
	client *framework.Client
	result *Inspection
	err    error
}

func (i *inspector) children(path string) ([]string, error) {
	names, err := i.client.GetChildren().ForPath(i.ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// sorted returns the names that rules take for contenders, in order.
func sorted(names []string, r rules) []string {
	in := internals{rules: r}
	queue, _ := in.contenders(names) // there is nothing that it could refuse
	return queue
}

func (i *inspector) queue(path string, names []string, r rules) {
	queue := sorted(names, r)
	for _, name := range queue {
		i.add(path+"/"+name, r.driver.GetsTheLock(queue, name, r.maxLeases).GetsTheLock)
	}
}

func (i *inspector) readWrite(path string, names []string) {
	queue := sorted(names, rules{driver: writeDriver{}})
	for _, name := range queue {
		var driver LockInternalsDriver = readDriver{}
		others := queue
		if isWriter(name) { // a reader at its place is its own, and sorts before or behind it
			driver = writeDriver{}
			others = slices.DeleteFunc(slices.Clone(queue), func(other string) bool { return isReader(other) && orderOf(other) == orderOf(name) })
		}
		i.add(path+"/"+name, driver.GetsTheLock(others, name, 1).GetsTheLock)
	}
}

func (i *inspector) leases(path string) {
	for _, dir := range []string{"/leases", "/locks"} {
		names, err := i.children(path + dir)
		if err != nil {
			i.err = err
			return
		}
		for _, name := range sorted(names, rules{driver: leaseDriver{}}) {
			i.add(path+dir+"/"+name, dir == "/leases")
		}
	}
}

// add reads the node of a contender.
func (i *inspector) add(path string, holds bool) {
	if i.err != nil {
		return
	}
	var stat framework.Stat
	data, err := i.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(i.ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return
	case err != nil:
		i.err = err
		return
	}
	c := Contender{Path: path, Token: stat.Czxid, SessionID: stat.EphemeralOwner, Since: stat.Ctime, Data: string(data)}
	if !bytes.Equal(data, revokeMessage) {
		owner := telemetry.ParseOwner(data)
		c.Owner, c.TraceParent = owner.String(), owner.TraceParent()
	}
	if holds {
		i.result.Holders = append(i.result.Holders, c)
	} else {
		i.result.Waiters = append(i.result.Waiters, c)
	}
}
