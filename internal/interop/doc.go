// Package interop has the tests that show that this module and Java Curator share one
// lock on the same znodes of a real ZooKeeper server.
//
// It has no code of its own: run it with go test ./internal/interop. The tests compile
// testdata/Peer.java against Curator's jars and drive it, line by line, over the standard
// input and output of a JVM in which each of Java's contenders has a client and a thread.
//
// Nothing here can be told from one side alone: what one language writes is read by the
// other, and the order in which the lock is handed over is that of the server's numbers.
package interop
