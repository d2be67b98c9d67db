// Package suite runs behaviours on every backend: the embedded server in virtual time,
// the embedded server over TCP, and a real ZooKeeper server. It is for tests only. With go test -short
// only virtual time is left.
//
// Faults are made on the client's side of the connection, by a [Network] that reads the
// frames that pass, so that the same fault can be had on each backend.
package suite
