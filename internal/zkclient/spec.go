package zkclient

import (
	"fmt"
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
	DefaultData bool // instead of Data
	ACL         ACL  // nil for that of WithACL, or else of Config.ACL
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
	Times  bool // the times of the node are read, if the server does not answer with its Stat
	// Made is called by Create with the node's Stat. Nil does nothing.
	Made func(jute.Stat)
}

// ACL is an ACL as it is sent. Nobody changes it.
type ACL []jute.ACL

// NewACL returns a framework.ACL list, which this package cannot import, as it is sent.
func NewACL[P ~int32, A ~struct {
	Perms      P
	Scheme, ID string
}](list []A) ACL {
	acl := make(ACL, len(list))
	for i, a := range list {
		entry := struct {
			Perms      P
			Scheme, ID string
		}(a)
		acl[i] = jute.ACL{Perms: int32(entry.Perms), ID: jute.ID{Scheme: entry.Scheme, ID: entry.ID}}
	}
	return acl
}

// Check returns an error that matches ErrInvalidACL if no server accepts the ACL, or an entry permits nothing, or
// what there is no permission for. A server judges the identities of other schemes.
func (acl ACL) Check() error {
	if len(acl) == 0 {
		return fmt.Errorf("%w: it is empty", zkconn.ErrInvalidACL)
	}
	for i, a := range acl {
		reason := ""
		switch {
		case a.ID.Scheme == "":
			reason = "has no scheme"
		case a.ID.Scheme == "world" && a.ID.ID != "anyone":
			reason = fmt.Sprintf("is of world:%s, and the scheme world has only anyone", a.ID.ID)
		case a.Perms == 0:
			reason = "permits nothing"
		case a.Perms&^jute.PermAll != 0:
			reason = fmt.Sprintf("has the permissions %#x, and there are only those of %#x", uint32(a.Perms), jute.PermAll)
		}
		if reason != "" {
			return fmt.Errorf("%w: entry %d of %d %s", zkconn.ErrInvalidACL, i+1, len(acl), reason)
		}
	}
	return nil
}

// SchemaACL returns an ACL as schemas know it.
func SchemaACL(acl ACL) []schema.ACL {
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
