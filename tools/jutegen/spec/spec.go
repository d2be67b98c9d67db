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

// path is the first field of most requests.
var path = Field{Name: "Path", Type: "string"}

// Records has all records in the order of the generated code. A record is after the records that it
// contains.
var Records = []Record{
	{
		Name: "ID", Doc: "is an identity: who, by which scheme of authentication.",
		Fields: []Field{{Name: "Scheme", Type: "string"}, {Name: "ID", Type: "string"}},
	},
	{
		Name: "ACL", Doc: "grants permissions to an identity.",
		Fields: []Field{{Name: "Perms", Type: "int32"}, {Name: "ID", Type: "ID"}},
	},
	{
		Name: "Stat", Doc: "describes a node; times are milliseconds since 1970.",
		Fields: []Field{
			{Name: "Czxid", Type: "int64"}, {Name: "Mzxid", Type: "int64"},
			{Name: "Ctime", Type: "int64"}, {Name: "Mtime", Type: "int64"},
			{Name: "Version", Type: "int32"}, {Name: "Cversion", Type: "int32"},
			{Name: "Aversion", Type: "int32"}, {Name: "EphemeralOwner", Type: "int64"},
			{Name: "DataLength", Type: "int32"}, {Name: "NumChildren", Type: "int32"},
			{Name: "Pzxid", Type: "int64"},
		},
	},
	{
		Name: "ConnectRequest", Doc: "opens or resumes a session. It has no header.",
		Fields: []Field{
			{Name: "ProtocolVersion", Type: "int32"}, {Name: "LastZxidSeen", Type: "int64"},
			{Name: "TimeOut", Type: "int32", Doc: "milliseconds"},
			{Name: "SessionID", Type: "int64"}, {Name: "Passwd", Type: "buffer"},
		},
	},
	{
		Name: "ConnectResponse", Doc: "answers a ConnectRequest; a zero TimeOut says that the session has expired.",
		Fields: []Field{
			{Name: "ProtocolVersion", Type: "int32"},
			{Name: "TimeOut", Type: "int32", Doc: "milliseconds"},
			{Name: "SessionID", Type: "int64"}, {Name: "Passwd", Type: "buffer"},
		},
	},
	{
		Name: "RequestHeader", Doc: "precedes every request but the first.",
		Fields: []Field{{Name: "Xid", Type: "int32"}, {Name: "Op", Type: "int32"}},
	},
	{
		Name: "ReplyHeader", Doc: "precedes every reply but the first, and every event.",
		Fields: []Field{
			{Name: "Xid", Type: "int32"}, {Name: "Zxid", Type: "int64"}, {Name: "Err", Type: "int32"},
		},
	},
	{
		Name: "AuthPacket", Doc: "presents credentials.",
		Fields: []Field{
			{Name: "Type", Type: "int32"}, {Name: "Scheme", Type: "string"}, {Name: "Auth", Type: "buffer"},
		},
	},
	{
		Name: "GetSASLRequest", Doc: "carries a token of the client's side of a SASL authentication.",
		Fields: []Field{{Name: "Token", Type: "buffer"}},
	},
	{
		Name: "SetSASLResponse", Doc: "answers GetSASLRequest with the server's next token.",
		Fields: []Field{{Name: "Token", Type: "buffer"}},
	},
	{
		Name: "WatcherEvent", Doc: "is what a watch saw.",
		Fields: []Field{{Name: "Type", Type: "int32"}, {Name: "State", Type: "int32"}, path},
	},
	{
		Name: "CreateRequest", Doc: "makes a node: create, create2 and createContainer.",
		Fields: []Field{
			path, {Name: "Data", Type: "buffer"}, {Name: "ACL", Type: "[]ACL"}, {Name: "Flags", Type: "int32"},
		},
	},
	{
		Name: "CreateTTLRequest", Doc: "makes a node with a time to live.",
		Fields: []Field{
			path, {Name: "Data", Type: "buffer"}, {Name: "ACL", Type: "[]ACL"}, {Name: "Flags", Type: "int32"},
			{Name: "TTL", Type: "int64", Doc: "milliseconds"},
		},
	},
	{
		Name: "CreateResponse", Doc: "answers create.", Fields: []Field{path},
	},
	{
		Name: "Create2Response", Doc: "answers create2, createContainer and createTTL.",
		Fields: []Field{path, {Name: "Stat", Type: "Stat"}},
	},
	{
		Name: "DeleteRequest", Doc: "removes a node.",
		Fields: []Field{path, {Name: "Version", Type: "int32"}},
	},
	{
		Name: "PathRequest", Doc: "is every request that has a path and nothing else: sync, getACL, getEphemerals, getAllChildrenNumber.",
		Fields: []Field{path},
	},
	{
		Name: "PathWatchRequest", Doc: "is every read that can set a watch: exists, getData, getChildren, getChildren2.",
		Fields: []Field{path, {Name: "Watch", Type: "bool"}},
	},
	{
		Name: "StatResponse", Doc: "is every answer that is a Stat: to exists, setData, setACL.",
		Fields: []Field{{Name: "Stat", Type: "Stat"}},
	},
	{
		Name: "GetDataResponse", Doc: "answers getData.",
		Fields: []Field{{Name: "Data", Type: "buffer"}, {Name: "Stat", Type: "Stat"}},
	},
	{
		Name: "SetDataRequest", Doc: "replaces a node's data.",
		Fields: []Field{path, {Name: "Data", Type: "buffer"}, {Name: "Version", Type: "int32"}},
	},
	{
		Name: "GetChildrenResponse", Doc: "answers getChildren.",
		Fields: []Field{{Name: "Children", Type: "[]string"}},
	},
	{
		Name: "GetChildren2Response", Doc: "answers getChildren2.",
		Fields: []Field{{Name: "Children", Type: "[]string"}, {Name: "Stat", Type: "Stat"}},
	},
	{
		Name: "SyncResponse", Doc: "answers sync.", Fields: []Field{path},
	},
	{
		Name: "GetACLResponse", Doc: "answers getACL.",
		Fields: []Field{{Name: "ACL", Type: "[]ACL"}, {Name: "Stat", Type: "Stat"}},
	},
	{
		Name: "SetACLRequest", Doc: "replaces a node's ACL.",
		Fields: []Field{path, {Name: "ACL", Type: "[]ACL"}, {Name: "Version", Type: "int32"}},
	},
	{
		Name: "CheckVersionRequest", Doc: "tests a node's version, in a multi.",
		Fields: []Field{path, {Name: "Version", Type: "int32"}},
	},
	{
		Name: "MultiHeader", Doc: "precedes every operation and every result of a multi; the last one has Done.",
		Fields: []Field{{Name: "Type", Type: "int32"}, {Name: "Done", Type: "bool"}, {Name: "Err", Type: "int32"}},
	},
	{
		Name: "ErrorResponse", Doc: "is the result of an operation of a multi that failed.",
		Fields: []Field{{Name: "Err", Type: "int32"}},
	},
	{
		Name: "SetWatches", Doc: "puts one-shot watches back after a reconnect.",
		Fields: []Field{
			{Name: "RelativeZxid", Type: "int64"}, {Name: "DataWatches", Type: "[]string"},
			{Name: "ExistWatches", Type: "[]string"}, {Name: "ChildWatches", Type: "[]string"},
		},
	},
	{
		Name: "SetWatches2", Doc: "puts watches of every kind back after a reconnect.",
		Fields: []Field{
			{Name: "RelativeZxid", Type: "int64"}, {Name: "DataWatches", Type: "[]string"},
			{Name: "ExistWatches", Type: "[]string"}, {Name: "ChildWatches", Type: "[]string"},
			{Name: "PersistentWatches", Type: "[]string"}, {Name: "PersistentRecursiveWatches", Type: "[]string"},
		},
	},
	{
		Name: "AddWatchRequest", Doc: "sets a persistent watch.",
		Fields: []Field{path, {Name: "Mode", Type: "int32"}},
	},
	{
		Name: "ReconfigRequest", Doc: "changes the members of an ensemble.",
		Fields: []Field{
			// Strings that may be missing, which is not the same as empty.
			{Name: "Joining", Type: "buffer"}, {Name: "Leaving", Type: "buffer"}, {Name: "NewMembers", Type: "buffer"},
			{Name: "CurConfigID", Type: "int64"},
		},
	},
	{
		Name: "WatchesRequest", Doc: "names watches of a type: checkWatches and removeWatches.",
		Fields: []Field{path, {Name: "Type", Type: "int32"}},
	},
}
