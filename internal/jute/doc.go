// Package jute has the records of ZooKeeper's wire protocol, its operation codes and
// its error codes. The records are generated from tools/jutegen/spec.
//
// Decoding never panics and never allocates more than a small multiple of its input, for any
// input. Decoded buffers and strings of a [Decoder] may share memory with its input, so a
// decoded frame must not be overwritten.
package jute

//go:generate go run ../../tools/jutegen .
