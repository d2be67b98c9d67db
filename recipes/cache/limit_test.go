package cache_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
)

// most is how many events wait for a listener.
const most = 1 << 16

// A listener that blocks keeps a bounded number of events. Behind them it gets what has become of the
// nodes since, in events that fit to what it was told, and then later events.
func TestListenerLimit(t *testing.T) {
	t.Parallel()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		f.write("a=1 b=2 c=3 d=4 n=0")
		for i := range 8 { // below one node they do not fit into an answer
			f.createMany(fmt.Sprintf("n%d", i), 1, 1)
			f.createMany(fmt.Sprintf("n%d000000/", i), most/8, 2048)
		}
		f.make(cache.NewCuratorCache)
		goOn := make(chan struct{})
		var told []cache.Event
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) {
			told = append(told, e)
			<-goOn
		})
		f.start()
		for _, changes := range []string{"a=x -b b=y -c e=5 f=6", "f=7", "-f", "d=4a", "d=4b", "-e e=z"} {
			f.write(changes)
			synctest.Wait()
		}
		close(goOn)
		synctest.Wait()

		full := 1 + most
		if len(told) < full || len(told) > full+50 {
			t.Fatalf("told of %d events, want %d and a few more", len(told), full)
		}
		replay := contents{}
		for i, e := range told {
			if err := replay.apply(e); err != nil {
				t.Fatalf("event %d: %v", i, err)
			}
		}
		if now := contentsOf(f.cache.Snapshot()); !maps.EqualFunc(replay, now, same) {
			t.Errorf("told of %d nodes, the cache has %d", len(replay), len(now))
		}
		var rest []string
		for _, e := range told[full:] {
			if text := f.record(e); !strings.Contains(text, "n") { // the rest of the load
				rest = append(rest, text)
			}
		}
		want := []string{"!", "a=1>x", "-b=2", "+b=y", "-c=3", "d=4>4b", "+e=z"}
		if !slices.Equal(rest, want) {
			t.Errorf("behind the kept events it was told of %q, want %q", rest, want)
		}
		told = nil
		f.write("a=later")
		synctest.Wait()
		if len(told) != 1 || f.record(told[0]) != "a=x>later" {
			t.Errorf("later it was told of %v", told)
		}
	})
}
