// Package spec is the table of the wire records from which package jute is generated.
//
// The names and the order of the fields are those of ZooKeeper's protocol, which is the
// only documentation a record has: the bytes are the fields, one after the other.
package spec

// Record is a structure of the protocol. The generator refuses one without Doc.
type Record struct {
	Name   string // Go name, ZooKeeper's without its package
	Doc    string // completes "<Name> ..."
	Fields []Field
}

// Field is one value of a record.
type Field struct {
	Name string // Go name
	Type string // int32, int64, bool, string, buffer, a record's name, or "[]" before one of these
	Doc  string // optional
}
