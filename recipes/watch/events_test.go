package watch_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// Events are told to every loop, in order, however slow it is, and end with what they should.
func TestIterator(t *testing.T) {
	for name, end := range map[string]func(e *env, cancel func()){
		"by the context": func(_ *env, cancel func()) { cancel() },
		"by Close":       func(e *env, _ func()) { e.close(e.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, framework.PersistentRecursive)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				loops := make(chan []string)
				for range 2 {
					go func() {
						var told []string
						for event := range e.watcher.Events(ctx) {
							<-time.After(time.Second)
							told = append(told, e.text(event))
						}
						loops <- told
					}()
				}
				synctest.Wait() // the loops have begun
				e.start()
				for range 3 {
					e.create(e.path)
					e.delete(e.path)
				}
				time.Sleep(time.Minute)
				end(e, cancel)
				want := slices.Repeat([]string{"created /watched", "deleted /watched"}, 3)
				for range 2 {
					if told := <-loops; !slices.Equal(told, want) {
						t.Errorf("told of %q, want %q", told, want)
					}
				}
			})
		})
	}
}

// A loop that is left takes nothing with it, and one over a closed watcher ends at once.
func TestIteratorLeft(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.PersistentWatch)
		e.start()
		created := make(chan struct{})
		time.AfterFunc(time.Second, func() {
			defer close(created)
			e.create(e.path)
		})
		for range e.watcher.Events(t.Context()) {
			break
		}
		<-created
		e.close(t.Context())
		for range e.watcher.Events(t.Context()) {
			t.Error("an event")
		}
	})
}
