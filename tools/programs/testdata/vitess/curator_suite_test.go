package zk2topo

import (
	"fmt"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vitess.io/vitess/go/vt/topo"
	"vitess.io/vitess/go/vt/topo/test"

	topodatapb "vitess.io/vitess/go/vt/proto/topodata"
)

// checks are the parts of Vitess' suite.
var checks = []string{
	"checkKeyspace", "checkShard", "checkShardWithLock", "checkTablet", "checkShardReplication", "checkSrvKeyspace",
	"checkSrvVSchema", "checkLock", "checkTryLock", "checkVSchema", "checkRoutingRules", "checkElection",
	"checkWaitForNewLeader", "checkDirectory", "checkFile", "checkWatch", "checkWatchInterrupt", "checkList",
	"checkWatchRecursive",
}

// TestTopoServer is TestZk2Topo with a server that runs already, and with a test for each part of the suite.
// TestZk2Topo starts ZooKeeper with scripts that are not in Vitess' module, and is skipped as a whole from the
// first part on that zk2topo does not support.
func TestTopoServer(t *testing.T) {
	address := os.Getenv("CURATOR_ZK_ADDR")
	require.NotEmpty(t, address)
	roots := 0
	for _, check := range checks {
		t.Run(check, func(t *testing.T) {
			others := slices.DeleteFunc(slices.Clone(checks), func(other string) bool { return other == check })
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
			}, others)
		})
	}
}
