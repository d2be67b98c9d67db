package tree

import "github.com/go-curator/curator/internal/jute"

// Release is the release of ZooKeeper that a State answers as. The zero Release is 3.8.0. Its methods are
// what clients can see of the differences between the releases: all else is the same in them.
type Release int

// The releases, in order.
const (
	Release380 Release = iota
	Release386
	Release395
)

// String returns the number of the release.
func (r Release) String() string {
	return [...]string{Release380: "3.8.0", Release386: "3.8.6", Release395: "3.9.5"}[r]
}

// Releases returns all releases, in order.
func Releases() []Release { return []Release{Release380, Release386, Release395} }

// knowsCheck tells whether a check may stand outside of a multi. Later releases take it for an operation
// that they do not know.
func (r Release) knowsCheck() bool { return r < Release386 }

// existsNeedsRead tells whether exists needs the permission to read, as getData does.
func (r Release) existsNeedsRead() bool { return r >= Release386 }

// keepsCreate tells whether a create in a multi stays the operation that it was sent as. In 3.8.0 its flags
// decide, so a create2 of a plain node is a create. Where it stays, a multi with bad flags in a create
// cannot be read, nor can one with an ACL that is null.
func (r Release) keepsCreate() bool { return r >= Release386 }

// answersNullACL tells whether the answer to a multi that cannot be read for an ACL that is null has the
// results so far, which are none.
func (r Release) answersNullACL() bool { return r < Release395 }

// takesNoZxid tells whether a write that failed takes no zxid: since 3.9 one that cannot be read. A multi that
// cannot be read takes one in every release.
func (r Release) takesNoZxid(op jute.Op, code jute.Code) bool {
	return r >= Release395 && code == jute.CodeMarshallingError && op != jute.OpMulti
}

// deletesContainers tells whether deleteContainer is done for clients, too.
func (r Release) deletesContainers() bool { return r >= Release395 }

// eventsHaveZxid tells whether an event has the zxid of the transaction that it comes from.
func (r Release) eventsHaveZxid() bool { return r >= Release395 }

// hasModes tells whether a client's watches of different modes on a path are different watches. Then
// checkWatches finds only those of its own client, it and removeWatches tell the modes apart, and they have
// types for the persistent ones. Otherwise the watch that is set last replaces the one before.
func (r Release) hasModes() bool { return r >= Release395 }

// acceptsIPv6 tells whether ACLs of the scheme ip may have IPv6 addresses.
func (r Release) acceptsIPv6() bool { return r >= Release395 }
