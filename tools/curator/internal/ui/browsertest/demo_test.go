package browsertest

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/demo"
	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
)

// The page shows the fleet of curator demo. With CURATOR_UI_PICTURES the test takes the pictures of
// docs/ui.md, at the normal speed of the demonstration.
func TestDemo(t *testing.T) {
	t.Parallel()
	unit, handOvers := 300*time.Millisecond, 3
	if os.Getenv("CURATOR_UI_PICTURES") != "" {
		unit, handOvers = time.Second, 16
	}
	crew := demo.New(demo.Options{Unit: unit})
	if err := crew.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		if err := crew.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		for crew.Play(ctx) == nil { // until ctx ends
		}
	})
	f := &fleet{t: t, secret: ui.NewSecret()}
	f.serve(ui.Config{
		Config: follow.Config{
			Client: crew.Client(), Root: "/", Servers: []string{crew.ConnectString()}, Actions: true,
			Dial: func(ctx context.Context, address string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", address)
			},
		},
		Secret: f.secret, Log: f.note,
	}, "127.0.0.1:0")
	wide, narrow := f.open(1280, 800, "recipes"), f.open(390, 780, "recipes")
	wide.untilText("Elections")
	wide.untilText("Changed hands")
	wide.show("history")
	wide.until(fmt.Sprintf(`document.querySelectorAll('table[aria-label^="Hand-overs"] tbody tr').length >= %d`, handOvers))
	narrow.show("recipes")
	for _, b := range []*tab{wide, narrow} {
		b.scheme("light")
	}
	wide.until(`document.querySelectorAll('svg rect.hold').length >= 3`)
	wide.picture("ui-history")
	wide.scheme("dark")
	wide.show("ensemble")
	wide.untilText("Healthy")
	wide.picture("ui-ensemble-dark")
	wide.scheme("light")
	wide.show("recipes")
	wide.untilText(demo.OrdersPath)
	wide.picture("ui-recipes")
	wide.show("recipe?path=" + demo.OrdersPath)
	wide.untilText("Waiters, in order")
	wide.picture("ui-recipe")
	narrow.picture("ui-narrow")
}
