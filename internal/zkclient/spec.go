package zkclient

import (
	"time"

	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// AnyVersion in a request stands for any version of the node.
const AnyVersion = -1

// Mode is the kind of a node, by its flags in the protocol.
type Mode int32

// The modes; see package framework.
const (
	Persistent                  Mode = 0
	Ephemeral                        = Mode(jute.FlagEphemeral)
	PersistentSequential             = Mode(jute.FlagSequential)
	EphemeralSequential              = Ephemeral | PersistentSequential
	Container                        = Mode(jute.FlagContainer)
	PersistentWithTTL                = Mode(jute.FlagTTL)
	PersistentSequentialWithTTL      = Mode(jute.FlagSequentialTTL)
)

// IsEphemeral reports whether the nodes end with the session.
func (m Mode) IsEphemeral() bool { return m == Ephemeral || m == EphemeralSequential }

// IsTimed reports whether the nodes have a time to live.
func (m Mode) IsTimed() bool { return m == PersistentWithTTL || m == PersistentSequentialWithTTL }

// IsSequential reports whether the nodes get a number after their name.
func (m Mode) IsSequential() bool {
	return m == PersistentSequential || m == EphemeralSequential || m == PersistentSequentialWithTTL
}

// Parents are the missing ancestors that a create makes. Those of the namespace are always made, as
// containers.
type Parents int

// The choices.
const (
	NoParents Parents = iota
	PersistentParents
	ContainerParents // persistent ones if the client is told that there are no containers
)

// Compressed says whether data is compressed.
type Compressed int

// The choices.
const (
	AsConfigured Compressed = iota // by Config.CompressAll
	Always
	Never
)

// NodeSpec is a node that is to be created.
type NodeSpec struct {
	Path        string // the client's; without the number of a sequential node
	Mode        Mode
	TTL         time.Duration // of a mode with a time to live
	Data        []byte
	DefaultData bool       // instead of Data
	ACL         []jute.ACL // nil for that of Config.ACL
	Compressed  Compressed

	Parents      Parents
	ACLOnParents bool   // the parents below the namespace get ACL
	Protection   bool   // the name begins with a UUID
	ProtectedBy  string // how it begins in place of that, for this create alone; then the rest may be empty
	Idempotent   bool   // a node that exists, never written and with the same data, is taken for ours
	OrSet        bool   // a node that exists gets the data, if it is at OrSetVersion
	OrSetVersion int32
	// Repeat: it may be tried again although an earlier try may have been applied, as with Protection always.
	Repeat bool
	// Made is called by Create with the node's Stat. Nil does nothing.
	Made func(jute.Stat)
}

// SchemaACL returns an ACL as schemas know it.
func SchemaACL(acl []jute.ACL) []schema.ACL {
	list := make([]schema.ACL, len(acl))
	for i, a := range acl {
		list[i] = schema.ACL{Perms: a.Perms, Scheme: a.ID.Scheme, ID: a.ID.ID}
	}
	return list
}

// UserStat returns a Stat as a framework.Stat, which this package cannot import.
func UserStat[S ~struct {
	Czxid, Mzxid, Pzxid     int64
	Ctime, Mtime            time.Time
	Version, Cversion       int32
	Aversion                int32
	EphemeralOwner          int64
	DataLength, NumChildren int32
}](s *zkconn.Stat) S {
	return S{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid,
		Ctime: time.UnixMilli(s.Ctime), Mtime: time.UnixMilli(s.Mtime),
		Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}
