// Package interop has the tests with other clients. Some show that this module and Java Curator
// share one lock on the same znodes of a real ZooKeeper server. The others show that
// go-zookeeper's own client, ZooKeeper's and Curator for Java, kazoo for Python and zkCli.sh
// can use the embedded server like a real one.
//
// It has only tests: run it with go test ./internal/interop. The tests of locks compile
// testdata/Peer.java against Curator's jars and drive it, line by line, over the standard input
// and output of a JVM in which each of Java's contenders has a client and a thread.
//
// Each language reads the nodes that the other one writes, and the tests compare the order of
// hand-overs with the server's numbers.
//
// The programs that check a server, testdata/Checks.java and testdata/kazoo_checks.py, contain
// the expected results. They run on the embedded server and on a real one, behind a relay that
// cuts them off when they ask for it. The output of zkCli.sh on both servers is compared line
// by line.
//
// Java Curator and kazoo are those of Debian's packages. The environment may name others: CURATOR_JARS a
// folder of jars, KAZOO_PYTHON a Python. make peers does so.
package interop
