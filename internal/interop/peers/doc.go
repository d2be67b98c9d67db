// Package peers has the tests together with the newest releases of other clients, which make peers fetches: Java
// Curator's own test suite on the embedded server, an application of Spring Cloud Zookeeper, kazoo for Python,
// node-zookeeper-client for Node.js and zookeeper-client for Rust. The folder of what was fetched is in the environment
// variable PEERSDIR. Without it these tests are left out, and only those run that need none of it.
//
// The programs of other clients are in testdata. Each reads requests on its standard input and answers them on its
// standard output, as testdata/kazoo_peer.py describes it.
//
// make peers also runs package interop with Java Curator and kazoo from that folder.
package peers
