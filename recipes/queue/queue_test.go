package queue_test

import (
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// Q1: one consumer gets the items in the order of their puts, those that were there before and
// those that come later.
func TestQ1Order(t *testing.T) {
	both(t, suite.Everywhere, func(f *fixture) {
		f.put("a", "b")
		client, _ := f.b.Client(f.t)
		c := f.consume(f.queue(client).Consume, nil)
		c.want("a", "b")
		f.put("c")
		if err := f.queue(f.observer).Put(f.t.Context(), "d", "", "e"); err != nil {
			f.t.Fatal(err)
		}
		f.put("f")
		c.want("a", "b", "c", "d", "", "e", "f")
		f.drained()
		c.stop()
		f.nothingLeft()
	})
}
