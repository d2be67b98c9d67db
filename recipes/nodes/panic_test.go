package nodes_test

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

// A Start that panics, here in the retry policy, leaves nothing, and may be called again.
func TestPanicInStart(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(client *framework.Client, dir string) (framework.Component, error)
		op   jute.Op // whose reply is lost
	}{
		"kept node, creates": {keptNode, jute.OpCreate2},
		"member, watches":    {groupMember, jute.OpAddWatch},
		"member, lists":      {groupMember, jute.OpGetChildren2},
		"member, creates":    {groupMember, jute.OpCreate2},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.dir)
				e.operate(err)
				client := b.PanickingClient(t, e.network)
				e.connected(client)
				c, err := tt.make(client, e.dir)
				e.operate(err)
				e.network.On(tt.op, suite.CutAfter, nil)
				suite.WantPanic(t, func() { t.Errorf("Start returned %v", c.Start(t.Context())) })
				e.connected(client)
				e.untilNone()
				suite.Eventually(t, "no watch", func() bool { return e.watches(client) == 0 })
				e.operate(c.Start(t.Context()))
				e.operate(c.Close(t.Context()))
				e.wantNone()
			})
		})
	}
}

func keptNode(client *framework.Client, dir string) (framework.Component, error) {
	return nodes.NewPersistentNode(client, dir+"/node", framework.Ephemeral, nil)
}

func groupMember(client *framework.Client, dir string) (framework.Component, error) {
	return nodes.NewGroupMember(client, dir, "node", nil)
}
