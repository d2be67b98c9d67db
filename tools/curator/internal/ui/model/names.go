package model

import (
	"fmt"
	"strconv"
	"strings"
)

// class is the class of a node. It follows from the node's name, and from whether it is ephemeral or
// describes a service.
type class int8

const (
	other class = iota
	lockNode
	readNode
	writeNode
	latchNode
	leaseNode
	kazooNode  // a contender of a lock of kazoo, which ignores Curator's contenders
	itemNode   // an item of a queue
	simpleItem // an item of a SimpleDistributedQueue
	claimNode  // the lock node of an item that a consumer works on
	uuidNode   // ephemeral, its name is only a UUID
	readyNode
	instanceNode
	memberNode // ephemeral, of none of the other classes
	classes
)

const (
	readMark  = "__READ__"
	writeMark = "__WRIT__"
)

// classify returns the class of a node, and the text by which nodes of a class are ordered.
func classify(name string, n *Node) (class, string) {
	for _, mark := range []struct {
		text  string
		class class
	}{
		{readMark, readNode}, {writeMark, writeNode}, {"lock-", lockNode}, {"latch-", latchNode}, {"lease-", leaseNode},
		{"__lock__", kazooNode}, {"__rlock__", kazooNode},
	} {
		if number := sequence(name, mark.text); number != "" {
			return mark.class, number
		}
	}
	ephemeral := n.Session != 0
	switch {
	case strings.HasPrefix(name, "queue-") && endsInNumber(name):
		if ephemeral {
			return claimNode, itemOrder(name)
		}
		return itemNode, itemOrder(name)
	case strings.HasPrefix(name, "qn-") && endsInNumber(name):
		return simpleItem, name
	case n.Facts.Service != nil:
		return instanceNode, name
	case name == "ready" && !ephemeral:
		return readyNode, name
	case ephemeral && isUUID(name):
		return uuidNode, name
	case ephemeral:
		return memberNode, name
	}
	return other, ""
}

// sequence returns the sequence number after the last mark in a name, as text, "" if there is none.
func sequence(name, mark string) string {
	i := strings.LastIndex(name, mark)
	if i < 0 {
		return ""
	}
	number := name[i+len(mark):]
	digits := strings.TrimPrefix(number, "-") // sequence numbers are negative after an overflow
	if len(digits) != 10 || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return number
}

func endsInNumber(name string) bool {
	const width = 10
	return len(name) >= width && strings.Trim(name[len(name)-width:], "0123456789") == ""
}

// itemOrder returns the text by which the items of a queue are ordered: the time at which they are
// due, otherwise the name without an id.
func itemOrder(name string) string {
	if due := dueOf(name); due > 0 {
		return fmt.Sprintf("%016x%s", due, name)
	}
	before, rest, marked := strings.Cut(name, "|")
	if _, after, found := strings.Cut(rest, "|"); marked && found {
		return before + after
	}
	return name
}

// leastDue is in the year 2001. Smaller numbers between bars are ids.
const leastDue = 1_000_000_000_000

// dueOf returns when an item of a delay queue is due, in ms since 1970, or 0.
func dueOf(name string) int64 {
	parts := strings.Split(name, "|")
	if len(parts) != 3 || len(parts[1]) < 8 {
		return 0
	}
	ms, err := strconv.ParseInt(parts[1], 16, 64)
	if err != nil || ms < leastDue {
		return 0
	}
	return ms
}

// queueVariant returns the name of the kind of queue that an item belongs to.
func queueVariant(name string) string {
	const plain, prioritized = len("queue-") + 10, len("queue-") + 9 + 10
	switch {
	case dueOf(name) > 0:
		return "delay"
	case strings.Contains(name, "|"):
		return "id"
	case len(name) == prioritized && len(name) != plain:
		return "priority"
	}
	return ""
}

// isUUID reports whether a name is a canonical UUID.
func isUUID(name string) bool {
	if len(name) != 36 {
		return false
	}
	for i, r := range name {
		isDash := i == 8 || i == 13 || i == 18 || i == 23
		if isDash != (r == '-') || !isDash && !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return true
}

// isBarrier reports whether the name of a node, or that of its parent, says that it is a barrier.
func isBarrier(path string) bool {
	parts := strings.Split(strings.ToLower(path), "/")
	if len(parts) < 2 {
		return false
	}
	return strings.Contains(parts[len(parts)-1], "barrier") || strings.Contains(parts[len(parts)-2], "barrier")
}
