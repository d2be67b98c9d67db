package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// members knows the children of a node and their data. A persistent watch tells which of them to
// read; what they are, only a read tells.
type members struct {
	client *framework.Client
	api    *zkclient.Client
	path   string
	full   string // the server's path
	sub    *zkconn.Subscription
	wake   wait.Signal

	mu      sync.Mutex
	dirty   map[string]struct{} // names to be read
	relist  bool                // all names are to be read
	over    bool                // the client was closed
	known   map[string][]byte   // nil before the first load; never changed in place
	changed chan struct{}       // closed with the next change of known

	failing bool // it was logged that a member cannot be read; of the goroutine that loads
}

func newMembers(client *framework.Client, path, full string) *members {
	m := &members{
		client: client, api: zkclient.Of(client), path: path, full: full, wake: wait.NewSignal(),
		dirty: map[string]struct{}{}, changed: make(chan struct{}),
	}
	m.sub = zkconn.NewSubscription(full, true, m.onEvent)
	return m
}

// onEvent is called by the session layer, with its locks held.
func (m *members) onEvent(e zkconn.WatchEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, below := strings.CutPrefix(e.Path, m.full+"/")
	switch {
	case e.Type == zkconn.WatchClosed:
		m.over = true
		m.tell()
	case e.Type == zkconn.WatchReset, !below:
		m.relist = true
	case strings.Contains(name, "/"): // below a member
		return
	default:
		m.dirty[name] = struct{}{}
	}
	m.wake.Set()
}

// begin sets the watch and reads all members. When it fails the watch may be set.
func (m *members) begin(ctx context.Context) error {
	err := m.api.Retry(ctx, "addWatch", m.path, func(ctx context.Context, conn *zkconn.Conn) error {
		return conn.Subscribe(ctx, m.sub)
	})
	if err != nil {
		return err
	}
	m.readAgain()
	return m.load(ctx)
}

// end removes the watch.
func (m *members) end(ctx context.Context) error {
	conn, err := m.api.Conn()
	if err != nil {
		return nil // the watch has gone with the connection
	}
	ctx, cancel := lifecycle.Reachable(ctx, m.api)
	defer cancel()
	if err := conn.Unsubscribe(ctx, m.sub); err != nil {
		return fmt.Errorf("remove the watch of %s: %w", m.path, err)
	}
	return nil
}

// work reads what changes until ctx ends or the client does.
func (m *members) work(ctx context.Context) {
	conn, err := m.api.Conn()
	open := func(error) bool { // an error may be that of a user's code, and match anything
		_, closed := m.api.Conn()
		return closed == nil
	}
	for err == nil && !m.ended() {
		select {
		case <-m.wake:
		case <-ctx.Done():
			return
		}
		err = zkclient.RetryForever(ctx, conn, retryPace(), open, m.load)
	}
}

func (m *members) ended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

// readAgain has all members read by the next load.
func (m *members) readAgain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.relist = true
}

// take returns what is to be read. It is forgotten before it is read, so that what changes from
// now on is read again.
func (m *members) take() (dirty map[string]struct{}, relist bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dirty, relist = m.dirty, m.relist
	m.dirty, m.relist = map[string]struct{}{}, false
	return dirty, relist
}

// load reads what has changed, and publishes it. If it fails, the next one reads everything.
func (m *members) load(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			m.readAgain()
		}
	}()
	dirty, relist := m.take()
	next := maps.Clone(m.current())
	if relist || next == nil {
		names, err := m.client.GetChildren().ForPath(ctx, m.path)
		if err != nil && !errors.Is(err, framework.ErrNoNode) {
			return err
		}
		dirty, next = map[string]struct{}{}, map[string][]byte{}
		for _, name := range names {
			dirty[name] = struct{}{}
		}
	}
	if err := m.read(ctx, dirty, next); err != nil {
		return err
	}
	m.publish(next)
	return nil
}

// read reads members into next. A member that cannot be read is left out, unless there was no
// connection: then read returns the error.
func (m *members) read(ctx context.Context, names map[string]struct{}, next map[string][]byte) error {
	var unreadable error
	for path, read := range m.client.ReadMany(ctx, m.pathsOf(names)) {
		name := path[strings.LastIndexByte(path, '/')+1:]
		delete(next, name)
		switch err := read.Err; {
		case err == nil:
			next[name] = read.Data
		case errors.Is(err, framework.ErrNoNode):
		case framework.Retryable(err), ctx.Err() != nil, errors.Is(err, framework.ErrClosed):
			return err
		default:
			unreadable = err
		}
	}
	m.complain(unreadable)
	return nil
}

// pathsOf yields the paths of members.
func (m *members) pathsOf(names map[string]struct{}) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range names {
			if !yield(paths.Make(m.path, name)) {
				return
			}
		}
	}
}

// complain logs once that members cannot be read.
func (m *members) complain(err error) {
	if err != nil && !m.failing {
		m.api.Log(func() {
			m.client.Logger().Warn("members of a group are left out because they cannot be read", "path", m.path, "error", err)
		})
	}
	m.failing = m.failing || err != nil
}

func (m *members) current() map[string][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known
}

// publish replaces what is known, and tells those who wait.
func (m *members) publish(next map[string][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known != nil && maps.EqualFunc(m.known, next, bytes.Equal) {
		return
	}
	m.known = next
	m.tell()
}

// tell wakes those who wait for a change. m.mu is held.
func (m *members) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// wakeWaiters wakes those who wait for a change, although there is none.
func (m *members) wakeWaiters() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell()
}

// snapshot returns what is known, nil before the first load, and what is closed with the next
// change. over says that there will be none.
func (m *members) snapshot() (known map[string][]byte, changed <-chan struct{}, over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.changed, m.over
}
