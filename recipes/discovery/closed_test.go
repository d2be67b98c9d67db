package discovery_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// An instance is gone when its client has closed the session, and Close says so. If the session was left to its
// timeout the instance may be offered until then, and Close says that, too.
func TestCloseAfterClient(t *testing.T) {
	for name, confirmed := range map[string]bool{"closed": true, "left": false} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(f *fixture) {
				f.start()
				f.register(of("1", "a"))
				if !confirmed {
					f.network.Isolate()
					f.network.Cut()
				}
				ctx, cancel := context.WithTimeout(f.t.Context(), time.Second)
				defer cancel()
				if err := f.client.Close(ctx); (err == nil) != confirmed {
					f.t.Fatalf("Close of the client: %v", err)
				}
				if err := f.registry.Close(f.t.Context()); confirmed {
					suite.OK(f.t, err)
					f.until()
				} else {
					suite.WantErr(f.t, err, framework.ErrClosed)
				}
			})
		})
	}
}
