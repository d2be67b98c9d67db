package interop_test

import "testing"

// ZooKeeper's own client and Curator for Java.
func TestJavaClients(t *testing.T) {
	p := compiled(t)
	onServers(t, func(s *server) {
		s.check(p.command("Checks", s.relay.address(), s.root, "zookeeper", "curator"))
	})
	onTool(t, func(s *server) {
		s.check(p.command("Checks", s.relay.address(), s.root, "curator"))
	})
}
