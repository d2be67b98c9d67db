package interop_test

import "testing"

// ZooKeeper's own client and Curator for Java. The server of the command line tool is the embedded one:
// TestZkCli looks at it.
func TestJavaClients(t *testing.T) {
	t.Parallel()
	p := compiled(t)
	onServers(t, func(s *server) {
		s.check(p.command("Checks", s.relay.Address(), s.root, "zookeeper", "curator"))
	})
}
