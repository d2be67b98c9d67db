package framework

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/zkclient"
)

// Perm is a set of permissions.
type Perm int32

// The permissions.
const (
	PermRead Perm = 1 << iota
	PermWrite
	PermCreate
	PermDelete
	PermAdmin
	PermAll Perm = 31
)

// ACL grants permissions to an identity: it is an entry of the list that a node has. Of several entries each
// grants what it says. [WorldACL], [AuthACL] and [DigestACL] make entries of the schemes that every server has.
// Entries of other schemes are written out:
//
//	framework.ACL{Perms: framework.PermAll, Scheme: "ip", ID: "10.1.0.0/16"}             // clients by their address
//	framework.ACL{Perms: framework.PermAll, Scheme: "x509", ID: "CN=orders,O=Example"}    // the subject of the client's certificate
//	framework.ACL{Perms: framework.PermAll, Scheme: "sasl", ID: "orders"}                 // the user of DigestMD5, or a principal of Kerberos
//
// The id of the scheme digest has the hash of a password, and never the password itself: see DigestACL.
//
// Java: ACL, with Id.
type ACL struct {
	Perms      Perm
	Scheme, ID string
}

// OpenACLUnsafe lets everyone do everything. Java: ZooDefs.Ids.OPEN_ACL_UNSAFE.
func OpenACLUnsafe() []ACL { return []ACL{WorldACL()} }

// CreatorAllACL lets only the creator's identities in. Java: CREATOR_ALL_ACL.
func CreatorAllACL() []ACL { return []ACL{AuthACL()} }

// WorldACL grants permissions to everyone, also to clients without credentials. Several perms are added up;
// without perms it grants PermAll.
//
// Java: new ACL(perms, ZooDefs.Ids.ANYONE_ID_UNSAFE); READ_ACL_UNSAFE is WorldACL(PermRead). The driver
// go-zookeeper/zk: WorldACL.
func WorldACL(perms ...Perm) ACL { return ACL{granted(perms), "world", "anyone"} }

// AuthACL grants permissions to each identity that the client has at the server when it creates the node, or
// sets its ACL: those of WithAuthorization and AddAuth, of its certificate and of SASL. The server stores these
// identities in place of the entry. It refuses the entry with ErrInvalidACL if the client has none: an address
// is not enough. Several perms are added up; without perms it grants PermAll.
//
// Java: new ACL(perms, ZooDefs.Ids.AUTH_IDS). The driver go-zookeeper/zk: AuthACL.
func AuthACL(perms ...Perm) ACL { return ACL{granted(perms), "auth", ""} }

// DigestACL grants permissions to the clients with the credentials "digest", "user:password"; see
// WithAuthorization. Unlike with AuthACL, the client that creates the node need not have them. Several perms
// are added up; without perms it grants PermAll.
//
// The entry has the user and the SHA-1 of "user:password", in base64, and everyone who may read an ACL sees
// it: use a long random password. Servers whose digestAlg is another one accept the entry, but no client
// matches it. As in Java, the user ends at the first colon, and may not be told from one with a longer
// password: use none with a colon.
//
// Java: new ACL(perms, new Id("digest", DigestAuthenticationProvider.generateDigest("user:password"))). The
// driver go-zookeeper/zk: DigestACL, which has the permissions first.
func DigestACL(user, password string, perms ...Perm) ACL {
	credentials := user + ":" + password
	name, _, _ := strings.Cut(credentials, ":")
	sum := sha1.Sum([]byte(credentials))
	return ACL{granted(perms), "digest", name + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// granted adds permissions up; none stand for all.
func granted(perms []Perm) (sum Perm) {
	if len(perms) == 0 {
		return PermAll
	}
	for _, p := range perms {
		sum |= p
	}
	return sum
}

// ACLProvider chooses the ACL of a node when a create gives none, also for created parents.
// path is the path with its namespace, for a sequential node without the number. It must be
// safe for concurrent use. It returns an empty ACL only for paths with its default ACL, see
// ACLDefaulter; without a default the create fails with ErrInvalidACL before anything is sent.
//
// Java: ACLProvider.getAclForPath.
type ACLProvider interface{ ACLForPath(path string) []ACL }

// ACLDefaulter is implemented by an ACLProvider that has a default: the ACL of each node for
// which ACLForPath returns an empty one. It must be safe for concurrent use. An empty default
// means that there is none.
//
// Java: ACLProvider.getDefaultAcl.
type ACLDefaulter interface{ DefaultACL() []ACL }

// defaultACL is the ACL of nodes whose create gives none. The zero value opens everything.
type defaultACL struct {
	provider ACLProvider  // of WithACLProvider
	list     zkclient.ACL // of WithDefaultACL
}

// openACL is OpenACLUnsafe as it is sent.
var openACL = zkclient.NewACL(OpenACLUnsafe())

// check refuses two answers to one question.
func (d *defaultACL) check() error {
	if d.provider != nil && d.list != nil {
		return fmt.Errorf("%w: WithDefaultACL and WithACLProvider cannot be combined", ErrInvalidOption)
	}
	return nil
}

// of returns the ACL of a node. path is without the chroot.
func (d *defaultACL) of(path string) (zkclient.ACL, error) {
	switch {
	case d.list != nil:
		return d.list, nil
	case d.provider == nil:
		return openACL, nil
	}
	acl := d.provider.ACLForPath(path)
	if by, ok := d.provider.(ACLDefaulter); ok && len(acl) == 0 {
		acl = by.DefaultACL()
	}
	if len(acl) == 0 {
		return nil, fmt.Errorf("%w: the ACL provider has none for %s", ErrInvalidACL, path)
	}
	return zkclient.NewACL(acl), nil
}
