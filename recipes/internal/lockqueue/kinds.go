package lockqueue

import "strings"

// Kinds of queues, by the names of their nodes. A mutex and a semaphore have the same names, and
// so has a leader selector, which is a mutex.
const (
	KindMutex       = "mutex"
	KindReadWrite   = "read-write"
	KindSemaphoreV2 = "semaphore-v2" // in Java's layout
	KindLatch       = "latch"        // of a leader
)

// Curator's names of the nodes of a mutex, of a leader latch, of readers and of writers.
const (
	MutexName = "lock-"
	LatchName = "latch-"
	ReadName  = "__READ__"
	WriteName = "__WRIT__"
)

// KindOf returns the kind of queue that a child of a path belongs to, or "".
func KindOf(name string) string {
	switch {
	case strings.Contains(name, ReadName), strings.Contains(name, WriteName):
		return KindReadWrite
	case name == "leases", name == "locks":
		return KindSemaphoreV2
	case Order(name, MutexName) != "":
		return KindMutex
	case Order(name, LatchName) != "":
		return KindLatch
	}
	return ""
}

// Order returns the text after the last nodeName in a name, if it is a sequence number of the
// server. Otherwise it returns "".
func Order(name, nodeName string) string {
	i := strings.LastIndex(name, nodeName)
	if i < 0 {
		return ""
	}
	number := name[i+len(nodeName):]
	digits := strings.TrimPrefix(number, "-") // a server that has wrapped around
	if len(digits) != 10 {
		return ""
	}
	for _, d := range []byte(digits) {
		if d < '0' || '9' < d {
			return ""
		}
	}
	return number
}
