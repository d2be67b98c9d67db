package shared

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/recipeapi"
)

// ErrNotACount says that a node's data is not the four bytes of a count.
var ErrNotACount = errors.New("the data is not a count")

const (
	// readPause is how long a reader waits after a read that failed, on top of what the
	// client's retry policy has waited.
	readPause = time.Second
	// closeWait bounds the clean-up of a Close whose context has ended.
	closeWait = time.Second
)

// CountReader follows a shared integer that Java's SharedCount or another writes: four
// bytes, big endian, signed. A nil CountReader, and the zero value, has the count 0 and
// cannot be started.
//
// Data of another length is no count: the reader keeps the last one that was, and logs a
// warning. The same holds when the node is deleted, without the warning.
//
// Java: SharedCountReader.
type CountReader struct {
	view    framework.WatcherRemovingView
	path    string
	watcher *framework.Watcher
	wake    chan struct{} // tells of an event
	changes listen.Set[int]

	mu     sync.Mutex
	known  VersionedValue[int]
	end    context.CancelFunc // of the work that Start began; nil without one
	ended  chan struct{}      // closed when that work has ended
	closed bool
}

// NewCountReader returns a reader of the count at path; seed is the count until the node
// is seen for the first time. The reader does not create the node, which may come later. It
// does no I/O. Errors: framework.ErrInvalidPath, framework.ErrInvalidOption for a seed of
// more than 32 bits, framework.ErrNotStarted for a nil client.
//
// Java: SharedCount.
func NewCountReader(client *framework.Client, path string, seed int) (*CountReader, error) {
	if _, err := recipeapi.Of(client).ServerPath(path); err != nil {
		return nil, err
	}
	if seed < math.MinInt32 || seed > math.MaxInt32 {
		return nil, fmt.Errorf("%w: the seed %d has more than 32 bits", framework.ErrInvalidOption, seed)
	}
	r := &CountReader{
		view: client.WatcherRemovingView(), path: path, wake: make(chan struct{}, 1),
		known: VersionedValue[int]{Value: seed, Version: -1, Zxid: -1},
	}
	r.watcher = framework.NewWatcher(func(context.Context, framework.WatchedEvent) { r.look() })
	return r, nil
}

// Start reads the count and begins to follow it; ctx bounds the first read. When that
// fails, for want of an answer or with ErrNotACount, nothing has begun and Start may be
// called again. Once it has succeeded the reader does not give up before Close. Other
// errors: framework.ErrAlreadyStarted, framework.ErrClosed, framework.ErrNotStarted.
//
// Java: start.
func (r *CountReader) Start(ctx context.Context) error {
	switch {
	case r == nil || r.watcher == nil:
		return framework.ErrNotStarted
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	}
	life, ended, err := r.begin(ctx)
	if err != nil {
		return fmt.Errorf("count %s: %w", r.path, err)
	}
	first, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { cancel(framework.ErrClosed) })
	_, err = r.read(first)
	stop()
	cancel(nil)
	if err == nil {
		go r.follow(life, ended)
		return nil
	}
	ctx, cancelCleanUp := cleanUp(ctx)
	defer cancelCleanUp()
	_ = r.view.RemoveWatchers(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end() // frees what life holds
	r.end = nil
	close(ended)
	if r.closed {
		return fmt.Errorf("count %s: %w: %w", r.path, framework.ErrClosed, err)
	}
	return fmt.Errorf("count %s: %w", r.path, err)
}

// begin takes note of a Start. life ends with Close; ended is to be closed when what was
// started has ended.
func (r *CountReader) begin(ctx context.Context) (life context.Context, ended chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, nil, framework.ErrClosed
	case r.end != nil:
		return nil, nil, framework.ErrAlreadyStarted
	}
	life, r.end = context.WithCancel(context.WithoutCancel(ctx))
	r.ended = make(chan struct{})
	return life, r.ended, nil
}

// Count returns the last count seen; it may be behind.
//
// Java: getCount.
func (r *CountReader) Count() int { return r.VersionedValue().Value }

// VersionedValue returns the last count seen with its version.
//
// Java: getVersionedValue.
func (r *CountReader) VersionedValue() VersionedValue[int] {
	if r == nil {
		return VersionedValue[int]{Version: -1, Zxid: -1}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// CountListenable takes listeners for changes, which are called with the new count; fast
// changes may be merged into the last. Count has the new value already. Add a listener
// before Start, or look at Count after Add, to miss none.
//
// Java: addListener.
func (r *CountReader) CountListenable() listen.Listenable[int] {
	if r == nil {
		return listen.Listenable[int]{}
	}
	return r.changes.Listenable()
}

// Close stops following, removes the watches and joins every goroutine; Count keeps the
// last value. It is idempotent, allowed before Start, and works although ctx has ended: it
// then waits a second at most. Its error says that listeners are still running.
//
// Java: close.
func (r *CountReader) Close(ctx context.Context) error {
	switch {
	case r == nil || r.watcher == nil:
		return nil
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	}
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	r.mu.Lock()
	r.closed = true
	end, ended := r.end, r.ended
	r.mu.Unlock()
	if end != nil {
		end()
		<-ended
	}
	_ = r.view.RemoveWatchers(ctx) // a server that cannot be asked to forgets them with the connection
	if err := r.changes.Close(ctx); err != nil {
		return fmt.Errorf("count %s: %w", r.path, err)
	}
	return nil
}

// cleanUp returns the context in which clean-up waits: ctx, or when it has ended a short
// time of its own.
func cleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), closeWait)
}

// look has the count read again.
func (r *CountReader) look() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// follow reads the count whenever it may have changed, until life ends or the client does.
func (r *CountReader) follow(life context.Context, ended chan<- struct{}) {
	defer close(ended)
	again := time.NewTimer(readPause)
	again.Stop()
	defer again.Stop()
	complained := false
	for {
		select {
		case <-r.wake:
		case <-again.C:
		case <-life.Done():
			return
		}
		again.Stop()
		watched, err := r.read(life)
		switch {
		case life.Err() != nil, errors.Is(err, framework.ErrClosed):
			return
		case err != nil && !complained:
			r.complain(err)
		}
		complained = err != nil
		if !watched {
			again.Reset(readPause)
		}
	}
}

// read reads the count. watched tells whether an event will come when that has changed.
func (r *CountReader) read(ctx context.Context) (watched bool, err error) {
	for {
		var stat framework.Stat
		data, err := r.view.GetData().Undecompressed().StoringStatIn(&stat).UsingWatcher(r.watcher).ForPath(ctx, r.path)
		if err == nil {
			return true, r.take(data, stat)
		}
		if !errors.Is(err, framework.ErrNoNode) {
			return false, err
		}
		there, err := r.view.CheckExists().UsingWatcher(r.watcher).ForPath(ctx, r.path)
		if err != nil || !there {
			return err == nil, err
		}
	}
}

// take takes a value over, unless it is older than the one that is known: a server that
// lags behind the last one may serve the client's next session.
func (r *CountReader) take(data []byte, stat framework.Stat) error {
	if len(data) != 4 {
		return fmt.Errorf("%w: %d bytes", ErrNotACount, len(data))
	}
	count := int(int32(binary.BigEndian.Uint32(data)))
	r.mu.Lock()
	before := r.known
	newer := stat.Mzxid > before.Zxid
	if newer {
		r.known = VersionedValue[int]{Value: count, Version: stat.Version, Zxid: stat.Mzxid}
	}
	r.mu.Unlock()
	if newer && count != before.Value {
		r.changes.Notify(count) // in order: one goroutine at a time reads
	}
	return nil
}

func (r *CountReader) complain(err error) {
	value := r.VersionedValue()
	recipeapi.Of(r.view.Client).Log(func() {
		r.view.Logger().Warn("shared count not read; the last one stays", "path", r.path, "count", value.Value, "error", err)
	})
}
