package nodes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// A listener that blocks keeps a bounded number of creations, and learns of the last one.
func TestListenerLimit(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		const most, sessions = 1 << 10, 1100
		e := newEnv(t, b)
		e.keep(framework.Ephemeral)
		goOn := make(chan struct{})
		n := 0
		e.node.CreatedListenable().Add(func(context.Context, string) {
			n++
			<-goOn
		})
		e.start()
		for range sessions {
			e.network.Expire(t)
			time.Sleep(2 * suite.SessionTimeout)
			synctest.Wait()
		}
		if all := len(e.creations(1 + sessions)); all != 1+sessions {
			t.Fatalf("%d creations", all)
		}
		close(goOn)
		synctest.Wait()
		if n != 1+most+1 {
			t.Errorf("told of %d creations, want %d and the last", n, 1+most)
		}
		e.close()
	})
}
