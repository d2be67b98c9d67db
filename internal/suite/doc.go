// Package suite runs tests of behaviour on every backend: the embedded server in virtual time,
// the embedded server over TCP, and a real ZooKeeper server. It is for tests only. With go test
// -short it uses only virtual time.
//
// Faults are made on the client's side of the connection, by a [Network] that reads the frames,
// so each backend can have the same fault.
package suite
