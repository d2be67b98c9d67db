package framework_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// Events of watches that are not passed on yet hold nothing up, and what has fired is no watch any
// more.
func TestWatchEventsWait(t *testing.T) {
	for name, test := range map[string]func(t bench, w *framework.Watcher) []framework.EventType{
		"reconnect": func(t bench, w *framework.Watcher) []framework.EventType {
			t.read(w)
			t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
			t.network.Cut()
			t.read(nil)
			return []framework.EventType{framework.WatchReset, framework.WatchReset}
		},
		"fired before it is removed": func(t bench, w *framework.Watcher) []framework.EventType {
			t.read(w)
			t.set(t.path, "1")
			t.want(t.c.Watches().Remove().ForPath(t.Context(), t.path, w), framework.ErrNoWatcher)
			return []framework.EventType{framework.NodeDataChanged}
		},
		"fired before another one is removed": func(t bench, w *framework.Watcher) []framework.EventType {
			t.read(w)
			t.set(t.path, "1")
			t.read(w)
			t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, w))
			return []framework.EventType{framework.NodeDataChanged, framework.DataWatchRemoved}
		},
		"fired before it is set again": func(t bench, w *framework.Watcher) []framework.EventType {
			t.read(w)
			t.set(t.path, "1")
			t.read(w)
			t.set(t.path, "2")
			return []framework.EventType{framework.NodeDataChanged, framework.NodeDataChanged}
		},
		"persistent and removed": func(t bench, w *framework.Watcher) []framework.EventType {
			t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
			t.set(t.path, "1")
			t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, w))
			return []framework.EventType{framework.PersistentWatchRemoved}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachBench(t, func(t bench) {
				t.create(t.path)
				w, events := watch()
				release := t.c.HoldWatchEvents()
				want := test(t, w)
				release()
				for _, e := range want {
					t.event(events, e)
				}
				t.silent(events)
				if n := w.Registrations(); n != 0 && name != "reconnect" {
					t.Errorf("%d watches are left", n)
				}
			})
		})
	}
}

func (t bench) read(w *framework.Watcher) {
	t.Helper()
	b := t.c.GetData()
	if w != nil {
		b = b.UsingWatcher(w)
	}
	_, err := b.ForPath(t.Context(), t.path)
	t.ok(err)
}

// A watcher that works until its context ends does not hold Close up.
func TestCloseEndsWatchers(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		in := make(chan struct{})
		w := framework.NewWatcher(func(ctx context.Context, _ framework.WatchedEvent) {
			close(in)
			<-ctx.Done()
		})
		path := strings.ReplaceAll(b.Path(""), "/", "")
		if _, err := c.CheckExists().UsingWatcher(w).ForPath(t.Context(), "/"+path); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/"+path); err != nil {
			t.Fatal(err)
		}
		<-in
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	})
}

func TestZeroWatcher(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		path := "/" + strings.ReplaceAll(b.Path(""), "/", "")
		for _, w := range []*framework.Watcher{nil, {}, framework.NewWatcher(nil)} {
			if _, err := c.CheckExists().UsingWatcher(w).ForPath(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	})
}
