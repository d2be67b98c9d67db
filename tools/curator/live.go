package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curator/internal/screen"
	"github.com/go-curator/curator/tools/curator/internal/terminaltext"
	"github.com/go-curator/curator/tools/curator/internal/yaml"
)

const (
	// livePause is the least time between two looks, so that a busy ensemble is not asked
	// all the time.
	livePause = 250 * time.Millisecond
	// pollPause is the time between looks at servers that cannot tell of changes.
	pollPause = time.Second
)

// result is what a look has found. rows may be called again later: it has the ages of then.
type result struct {
	document any
	rows     func() [][]string
}

// lookFunc asks the ensemble.
type lookFunc func(ctx context.Context) (result, error)

// lookCommand makes a command that shows what a look at PATH, / by default, finds, once or, with
// --watch, again at each change.
func (p *program) lookCommand(r request, look func(ctx context.Context, a *answer, path string) (result, error)) *cobra.Command {
	live := false
	r.most, r.prints = 1, true
	r.flags = func(cmd *cobra.Command) {
		cmd.Flags().BoolVarP(&live, "watch", "w", false, "show it again at each change, until q or Ctrl-C")
	}
	r.lasts = func() bool { return live }
	r.run = func(ctx context.Context, a *answer, args []string) error {
		path := "/"
		if len(args) > 0 {
			path = args[0]
		}
		ask := func(ctx context.Context) (result, error) { return look(ctx, a, path) }
		found, err := ask(ctx)
		switch {
		case err != nil:
			return err
		case !live:
			return a.show(found)
		}
		a.again = true
		return a.live(ctx, path, ask)
	}
	return p.requestCommand(r)
}

// show writes a result.
func (a *answer) show(r result) error {
	if a.format == asTable {
		return a.table(r.rows())
	}
	return a.document(r.document)
}

// live shows what looks find, until ctx ends or the user wants no more.
func (a *answer) live(ctx context.Context, path string, look lookFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	v := &view{answer: a, changed: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	defer v.looking.Wait()
	defer cancel()
	stop, err := v.subscribe(ctx, path)
	if err != nil {
		return err
	}
	defer stop()
	terminal, err := a.openScreen()
	if err != nil && !errors.Is(err, screen.ErrNoTerminal) {
		return err
	}
	v.looking.Go(func() { v.look(ctx, look) })
	if terminal == nil {
		return v.write(ctx)
	}
	defer func() { err = errors.Join(err, terminal.Close()) }()
	return v.draw(ctx, path, terminal)
}

// view is what is shown live.
type view struct {
	*answer
	changed chan struct{} // something has changed at the server
	news    chan struct{} // there is something new to show
	poll    time.Duration // between looks without a change; 0 is for ever
	looking sync.WaitGroup

	mu    sync.Mutex
	found *result
	err   error     // of the last look
	away  time.Time // since when the ensemble cannot be reached; zero if it can
}

// subscribe has the server tell of changes at path and below it.
func (v *view) subscribe(ctx context.Context, path string) (stop func(), err error) {
	remove := v.client.ConnectionStateListenable().Add(func(_ context.Context, now state.ConnectionState) {
		v.mu.Lock()
		switch now {
		case state.Suspended, state.Lost:
			if v.away.IsZero() {
				v.away = time.Now()
			}
		default:
			v.away = time.Time{}
		}
		v.mu.Unlock()
		wake(v.news)
	})
	watcher, err := watch.NewPersistentWatcher(v.client, path, framework.PersistentRecursive)
	if err != nil {
		remove()
		return nil, err
	}
	watcher.Listenable().Add(func(context.Context, framework.WatchedEvent) { wake(v.changed) })
	switch err := watcher.Start(ctx); {
	case errors.Is(err, framework.ErrUnimplemented):
		v.poll = pollPause
	case err != nil:
		remove()
		return nil, err
	}
	return func() {
		remove()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = watcher.Close(ctx) // the watch goes with the session
	}, nil
}

// wake wakes who receives from a channel that has room for one.
func wake(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// look looks at once and after each change, until ctx ends.
func (v *view) look(ctx context.Context, look lookFunc) {
	for {
		begun := time.Now()
		found, err := look(ctx)
		if ctx.Err() != nil {
			return
		}
		v.mu.Lock()
		if v.err = err; err == nil {
			v.found = &found
		}
		v.mu.Unlock()
		wake(v.news)
		if !pause(ctx, max(livePause, time.Since(begun))) || !v.awaitChange(ctx) {
			return
		}
	}
}

// awaitChange returns true when it is time for another look, false when ctx has ended.
func (v *view) awaitChange(ctx context.Context) bool {
	var again <-chan time.Time
	if v.poll > 0 {
		timer := time.NewTimer(v.poll)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-v.changed:
		return true
	case <-again:
		return true
	case <-ctx.Done():
		return false
	}
}

// latest returns what there is to show.
func (v *view) latest() (found *result, err error, away time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.found, v.err, v.away
}

// write writes each document that differs from the one before it.
func (v *view) write(ctx context.Context) error {
	var before []byte
	for {
		select {
		case <-v.news:
		case <-ctx.Done():
			return ctx.Err()
		}
		found, err, _ := v.latest()
		if err != nil {
			return err
		}
		if found == nil {
			continue // only the connection has changed
		}
		text, err := terminaltext.JSONLine(found.document)
		if err != nil {
			return err
		}
		if bytes.Equal(text, before) {
			continue
		}
		if err := v.append(text, *found, before == nil); err != nil {
			return err
		}
		before = text
	}
}

// append writes one of several documents: JSON on a line, YAML behind ---, tables with an empty
// line between them.
func (v *view) append(text []byte, r result, first bool) error {
	switch v.format {
	case asJSON:
		v.stdout.printf("%s", text)
	case asYAML:
		document, err := yaml.FromJSON(text)
		if err != nil {
			return err
		}
		v.stdout.printf("---\n%s", document)
	default:
		if !first {
			v.stdout.printf("\n")
		}
		if err := v.table(r.rows()); err != nil {
			return err
		}
	}
	return v.stdout.err
}
