package layout

import (
	"fmt"
	"strings"
)

// Class is the class of a node. It follows from the node's name, and from whether the node is ephemeral.
type Class int8

// The classes of nodes. An instance of a service may be MemberNode, Other or BarrierNode, because only its
// data shows that it is one.
const (
	Other Class = iota
	LockNode
	ReadNode
	WriteNode
	LatchNode
	LeaseNode
	KazooNode   // a contender of a lock of kazoo; locks of kazoo and of Curator do not exclude each other
	ItemNode    // an item of a queue
	SimpleNode  // an item of a SimpleDistributedQueue
	ClaimNode   // the lock node of an item that a consumer works on
	BarrierNode // ephemeral, its name is only a UUID: a member of a double barrier
	ReadyNode   // of a double barrier
	MemberNode  // ephemeral, of none of the other classes
	LeasesNode  // the parent of the leases of a semaphore in Java's layout
	LocksNode   // the parent of its mutex's nodes
	Classes     // the number of classes
)

// Classify returns the class of a node, and the text by which the nodes of a class below one parent are
// ordered. The text is "" for Other.
func Classify(name string, ephemeral bool) (class Class, order string) {
	if class, number := contender(name); class != Other {
		return class, number
	}
	if it, ok := ParseItem(name); ok {
		switch {
		case it.Kind == SimpleItems:
			return SimpleNode, name
		case ephemeral:
			return ClaimNode, itemText(it)
		}
		return ItemNode, itemText(it)
	}
	switch {
	case ephemeral && IsUUID(name):
		return BarrierNode, name
	case ephemeral:
		return MemberNode, name
	case name == ReadyName:
		return ReadyNode, name
	case name == LeasesDir:
		return LeasesNode, name
	case name == LocksDir:
		return LocksNode, name
	}
	return Other, ""
}

// contender returns the class and the number of a contender.
func contender(name string) (class Class, number string) {
	if IsReader(name) || IsWriter(name) {
		switch number = ReadWriteNumber(name); {
		case number == "":
			return Other, ""
		case IsWriter(name):
			return WriteNode, number
		}
		return ReadNode, number
	}
	for _, c := range [...]struct {
		mark  string
		class Class
	}{{LockMark, LockNode}, {LatchMark, LatchNode}, {LeaseMark, LeaseNode}, {"__lock__", KazooNode}, {"__rlock__", KazooNode}} {
		if number = Number(name, c.mark); number != "" {
			return c.class, number
		}
	}
	return Other, ""
}

// itemText returns an item's order as one text. All times have the same width, so they sort as numbers.
// Items without a time sort before them, as they are taken.
func itemText(it Item) string {
	order := it.Order()
	if order.Due == 0 {
		return order.Text
	}
	before, _, _ := strings.Cut(it.Prefix, "|")
	return fmt.Sprintf("%s|%016X|%s", before, order.Due, it.Number)
}

// Children has the number of a node's children of each class.
type Children [Classes]int

// CountChildren counts children as if none of them were ephemeral. That is sufficient for locks, whose
// names show their class.
func CountChildren(names []string) (c Children) {
	for _, name := range names {
		class, _ := Classify(name, false)
		c[class]++
	}
	return c
}

// Len returns the number of all children.
func (c *Children) Len() (n int) {
	for _, count := range c {
		n += count
	}
	return n
}

// Sum returns the number of the children of some classes.
func (c *Children) Sum(classes ...Class) (n int) {
	for _, class := range classes {
		n += c[class]
	}
	return n
}

// Kinds returns the kinds of recipes that the children belong to. Recipes of several kinds below one
// parent do not exclude each other. A semaphore in Java's layout is never among the kinds, because its
// grandchildren decide: see [IsSemaphoreV2].
func (c *Children) Kinds() (kinds []string) {
	for _, k := range []struct {
		kind    string
		classes []Class
	}{
		{KindMutex, []Class{LockNode}},
		{KindReadWrite, []Class{ReadNode, WriteNode}},
		{KindLatch, []Class{LatchNode}},
		{KindQueue, []Class{ItemNode, SimpleNode}},
		{KindClaims, []Class{ClaimNode}},
		{KindKazoo, []Class{KazooNode}},
	} {
		if c.Sum(k.classes...) > 0 {
			kinds = append(kinds, k.kind)
		}
	}
	if kinds != nil {
		return kinds
	}
	switch barrier, members := c.Sum(ReadyNode, BarrierNode), c[MemberNode]; {
	case barrier > 0 && members == 0:
		return []string{KindDoubleBarrier}
	case members+c[BarrierNode] > 0:
		return []string{KindGroup}
	}
	return nil
}

// MixesLocks reports whether the children belong to several kinds of locks, which do not exclude each
// other. The recipes refuse to lock at such a node.
func (c *Children) MixesLocks() bool {
	kinds := 0
	for _, classes := range [...][]Class{{LockNode}, {ReadNode, WriteNode}, {LatchNode}, {LeasesNode, LocksNode}} {
		if c.Sum(classes...) > 0 {
			kinds++
		}
	}
	return kinds > 1
}

// IsSemaphoreV2 reports whether a node with the children dir is a semaphore in Java's layout. leases and
// locks are the children of the nodes of these names. Another node may have children of these names, too.
// It is no semaphore if it also has children of another kind of lock.
func IsSemaphoreV2(dir, leases, locks Children) bool {
	switch {
	case dir[LeasesNode] == 0, dir.MixesLocks():
		return false
	case leases.Len() > 0:
		return leases[LeaseNode] > 0
	case locks.Len() > 0:
		return locks[LockNode] > 0
	}
	return dir[LocksNode] > 0
}
