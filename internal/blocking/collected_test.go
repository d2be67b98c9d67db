package blocking_test

import (
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// As apache/curator#1292, where a client kept the listener of each PersistentWatcher that was ever started: when a
// component is closed, neither its client nor a goroutine refers to it, so its memory is used again.
func TestClosedIsCollected(t *testing.T) {
	for name, kinds := range inBackground {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f := newFixture(t, b)
				for _, kind := range kinds {
					closed := f.startAndClose(kind)
					synctest.Wait()
					for range 5 { // what one collection frees may have referred to the rest
						runtime.GC()
					}
					if closed.Value() != nil {
						t.Error("the closed component is still referred to")
					}
				}
			})
		})
	}
}

// startAndClose starts a component, waits until it is there, and closes it. Only the result refers to it then.
//
//go:noinline
func (f *fixture) startAndClose(kind func(f *fixture, told func()) framework.Component) weak.Pointer[byte] {
	told := make(chan struct{}, 100)
	c := kind(f, func() { told <- struct{}{} })
	f.ok(c.Start(f.Context()))
	<-told
	f.ok(c.Close(f.Context()))
	return weak.Make((*byte)(reflect.ValueOf(c).UnsafePointer()))
}
