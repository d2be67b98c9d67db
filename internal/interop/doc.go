// Package interop has the tests with clients that are not ours. Some show that this module
// and Java Curator share one lock on the same znodes of a real ZooKeeper server; the others
// that go-zookeeper's own client, ZooKeeper's and Curator for Java, kazoo for Python and
// zkCli.sh can use the embedded server, as they use a real one.
//
// It has no code of its own: run it with go test ./internal/interop. The tests of locks compile
// testdata/Peer.java against Curator's jars and drive it, line by line, over the standard
// input and output of a JVM in which each of Java's contenders has a client and a thread.
//
// Nothing here can be told from one side alone: what one language writes is read by the
// other, and the order in which the lock is handed over is that of the server's numbers.
//
// The programs that check a server, testdata/Checks.java and testdata/kazoo_checks.py, know
// themselves what must come. They run on the embedded server and on a real one, behind a
// relay that cuts them off when they ask for it. What zkCli.sh says on the one is compared
// with what it says on the other, line by line.
package interop
