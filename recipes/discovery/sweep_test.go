package discovery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// Nodes that cannot be read do not keep what a lost create has left from being removed.
func TestSweepPassesUnreadableNodes(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.start()
		f.register(of("b", "x")) // so there is the service's node
		closed := []framework.ACL{{Perms: framework.PermAll &^ framework.PermRead, Scheme: "world", ID: "anyone"}}
		var unreadable []string
		for n := range 20 { // servers list them in the order of a hash
			name := fmt.Sprintf("a%010d", n)
			suite.Got(f.operator.Create().WithACL(closed...).ForPath(f.t.Context(), f.path(name))).OK(f.t)
			unreadable = append(unreadable, name)
		}
		i := of("a", "x")
		i.Type = discovery.DynamicSequential
		ctx, cancel := context.WithCancel(f.t.Context())
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		_, err := f.registry.Register(ctx, i)
		<-hit
		if !framework.MaybeApplied(err) {
			f.t.Fatalf("error %v", err)
		}
		session := f.client.SessionID()
		suite.Eventually(f.t, "only the nodes that cannot be read", func() bool {
			names := f.b.Server().Children(paths.Make(f.base, "orders"))
			names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "a") })
			slices.Sort(names)
			return slices.Equal(names, unreadable)
		})
		if f.client.SessionID() != session {
			f.t.Error("the node has gone with its session")
		}
		f.ended()
	})
}
