package layout

import (
	"slices"
	"strings"
)

// ReadyName is the name of the child that a DistributedDoubleBarrier has while it is open. Its other
// children are its members: ephemeral nodes, whose names are random UUIDs. A DistributedBarrier is one
// node, which is there while the barrier is set, and whose name is the user's.
const ReadyName = "ready"

// MarkedVersion is the version of the data of a "ready" that is marked: the members in Go have written
// it, together with the data of the barrier's node. Java's "ready" has version 0.
const MarkedVersion = 1

// BarrierMembers returns the names of the members among the children of a double barrier, sorted. Every
// child but "ready" is a member, as in Java.
func BarrierMembers(children []string) []string {
	names := slices.DeleteFunc(slices.Clone(children), func(name string) bool { return name == ReadyName })
	slices.Sort(names)
	return names
}

// IsNumbered reports whether a name is an id with a sequence number of the server behind it. The children
// of a service are its instances: the name is the instance's id, with a number behind it if the type is
// DYNAMIC_SEQUENTIAL. The children of a group are its members: the name is the member's id. Any name is
// possible for both.
func IsNumbered(name, id string) bool {
	number, ok := strings.CutPrefix(name, id)
	return ok && isNumber(number)
}

// TouchName is the default name of the child that keeps a PersistentTtlNode.
const TouchName = "touch"
