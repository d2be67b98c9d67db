package watch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/watch"
)

// Misuse is refused, before anything is sent.
func TestArguments(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		for name, tt := range map[string]struct {
			client *framework.Client
			path   string
			mode   framework.AddWatchMode
			want   error
		}{
			"nil client": {nil, "/a", framework.PersistentWatch, framework.ErrNotStarted},
			"path":       {client, "a", framework.PersistentWatch, framework.ErrInvalidPath},
			"mode":       {client, "/a", 7, framework.ErrInvalidOption},
		} {
			if w, err := watch.NewPersistentWatcher(tt.client, tt.path, tt.mode); w != nil || !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		w := suite.Got(watch.NewPersistentWatcher(client, "/a", framework.PersistentRecursive)).OK(t)
		var none context.Context
		if err := w.Start(none); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("Start(nil): %v", err)
		}
		if err := w.Close(none); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("Close(nil): %v", err)
		}
		for range w.Events(none) {
			t.Error("an event")
		}
		for name, zero := range map[string]*watch.PersistentWatcher{"nil": nil, "zero": {}} {
			if err := zero.Start(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
				t.Errorf("%s: Start: %v", name, err)
			}
			if err := zero.Close(t.Context()); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
			zero.Listenable().Add(func(context.Context, framework.WatchedEvent) {})
			for range zero.Events(t.Context()) {
				t.Errorf("%s: an event", name)
			}
		}
	})
}
