// Package jute has the records of ZooKeeper's wire protocol, its operation codes and
// its error codes. The records are generated from tools/jutegen/spec.
//
// Decoding never panics and never allocates more than a small multiple of the bytes it
// was given, whatever they are. Decoded buffers and strings of a [Decoder] may share
// memory with its input: a frame that was decoded must not be written again.
package jute

//go:generate go run ../../tools/jutegen .
