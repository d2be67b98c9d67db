package framework_test

import (
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// TestA8ProtectedCreate is the other half of the test of this name in internal/zkconn: the
// driver's search for a node whose create was not answered panics at siblings whose names
// only begin as a protected one does.
func TestA8ProtectedCreate(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		client, network := b.Client(t)
		parent := b.Path("protected")
		for _, name := range []string{"_c_", "_c_short", "_c_-lock-", "_c_0123456789abcdef0123456789abcdef", "_c_zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz-lock-"} {
			if _, err := client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), parent+"/"+name); err != nil {
				t.Fatal(err)
			}
		}
		builder := client.Create().WithProtection().WithMode(framework.EphemeralSequential)
		for _, fate := range []suite.Fate{suite.CutBefore, suite.CutAfter} {
			before, err := client.GetChildren().ForPath(t.Context(), parent)
			if err != nil {
				t.Fatal(err)
			}
			hit := network.On(jute.OpCreate2, fate, nil)
			path, err := builder.ForPath(t.Context(), parent+"/lock-")
			if err != nil {
				t.Fatal(err)
			}
			<-hit
			after, err := client.GetChildren().ForPath(t.Context(), parent)
			if err != nil || len(after) != len(before)+1 || !strings.Contains(strings.Join(after, " "), strings.TrimPrefix(path, parent+"/")) {
				t.Fatalf("error %v, path %q, children %q", err, path, after)
			}
		}
	})
}
