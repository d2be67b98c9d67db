package zk2topo

import (
	"fmt"
	"os"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"vitess.io/vitess/go/vt/topo"
	"vitess.io/vitess/go/vt/topo/test"

	topodatapb "vitess.io/vitess/go/vt/proto/topodata"
)

// TestTopoServer is TestZk2Topo with a server that runs already: it runs the same suite of Vitess, and does
// not start ZooKeeper with Vitess' own scripts, which are not in its module.
func TestTopoServer(t *testing.T) {
	address := os.Getenv("CURATOR_ZK_ADDR")
	require.NotEmpty(t, address)
	roots := 0
	test.TopoServerTestSuite(t, t.Context(), func() *topo.Server {
		root := fmt.Sprintf("/test-%d", roots)
		roots++
		ts, err := topo.OpenServer("zk2", address+"|"+address, path.Join(root, topo.GlobalCell))
		require.NoError(t, err)
		require.NoError(t, ts.CreateCellInfo(t.Context(), test.LocalCellName, &topodatapb.CellInfo{
			ServerAddress: address,
			Root:          path.Join(root, test.LocalCellName),
		}))
		return ts
	}, []string{})
}
