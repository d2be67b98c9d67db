package model

import (
	"iter"
	"math/bits"
)

// The largest sizes of a state. When a Config needs more, Explore returns that as a violation, X.
const (
	maxClients  = 4
	maxNodes    = 16
	maxLog      = 28
	maxRequests = 10 // under way on one session
	maxLate     = 4  // writes of a broken connection
)

// MaxClients is how many clients a Trace may have.
const MaxClients = maxClients

// none stands for no node.
const none = 0xff

// nodeSet is a set of nodes by their numbers.
type nodeSet uint16

func only(n uint8) nodeSet { return 1 << n }

func (s nodeSet) has(n uint8) bool { return n < maxNodes && s&only(n) != 0 }

func (s nodeSet) len() int { return bits.OnesCount16(uint16(s)) }

// lowest returns the first node of s, or none.
func (s nodeSet) lowest() uint8 {
	if s == 0 {
		return none
	}
	return uint8(bits.TrailingZeros16(uint16(s)))
}

// highest returns the last node of s, or none.
func (s nodeSet) highest() uint8 {
	if s == 0 {
		return none
	}
	return uint8(bits.Len16(uint16(s)) - 1)
}

// all yields the nodes of s in the order of their creation.
func (s nodeSet) all() iter.Seq[uint8] {
	return func(yield func(uint8) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(uint8(bits.TrailingZeros16(uint16(s)))) {
				return
			}
		}
	}
}

// nodeKind says what a node stands for.
type nodeKind uint8

const (
	exclusive nodeKind = iota // a mutex, a writer, a latch
	shared                    // a reader
	lease                     // one of several of a semaphore
	member                    // of a double barrier
	ready                     // the barrier's "ready", which no session owns
)

// node is a node that was created. Its number is its czxid: nodes are numbered in the order of
// their creation.
type node struct {
	kind    nodeKind
	owner   uint8 // the client that created it
	session uint8 // none for "ready"
	epoch   uint8 // of the session
	seq     uint8 // the number in its name; the round that a member of a barrier came for; of "ready" marked, or 0
	place   uint8 // 1 + the writer whose number it has, for a reader that was downgraded
	first   uint8 // everFirst, void
}

// marked is the seq of a "ready" whose data were written in the transaction that created it. Java's are not.
const marked = 1

// What node.first says.
const (
	everFirst uint8 = 1 << iota // at some moment the node was entitled to the lock
	// void: it is a reader's in place of a writer's that was gone already. It stands in the queue until
	// its client has seen that, and is never granted.
	void
)

// change is what a transaction does.
type change uint8

const (
	changeNothing change = iota
	changeCreate         // a
	changeDelete         // a
	changeRelease        // creates and deletes the marker of a, and deletes a
	changeData           // of a
	changeClose          // session a, epoch b: deletes its nodes
	changeMakeDir        // the directory of the queue
	changeRemoveDir
	changeOpen // creates "ready" a, and deletes "ready" b unless that is none
	changeLast // deletes member a, unless that is none, and "ready" b
)

// transaction is an entry of the log.
type transaction struct {
	change change
	a, b   uint8
}

// operation is the kind of a request.
type operation uint8

const (
	_ operation = iota
	// Writes.
	opCreate         // an ephemeral sequential node; a barrier's is ephemeral only
	opMakeDir        // the directory of the queue
	opDelete         // node
	opRelease        // the transaction of the release marker
	opDowngrade      // create a reader with the number of the writer node
	opDowngradeFresh // create a reader with a number of its own, as Java 5.4.0
	opSync           // changes nothing, and is answered when the server has applied everything before
	opOpen           // check the members in set, delete "ready" node unless that is none, create "ready"
	opGuest          // check "ready", delete node
	opLast           // delete node and "ready"
	opSweep          // delete a marked "ready", if the barrier's node has a version and node is there, unless that is none
	opJavaOpen       // create "ready"
	opJavaSweep      // delete "ready"
	lastWrite
	// Reads.
	opList        // getChildren
	opWatch       // getData with a watch
	opWatchMarker // exists with a watch, on the marker of the node
	opWatchReady  // exists with a watch, on "ready"
	opReadReady   // exists, on "ready"
	opUnwatch     // removeWatches
	opUnwatchMarker
	opSetWatches // puts the watches back after a reconnect
	opRead       // getData
)

func (o operation) isWrite() bool { return o < lastWrite }

// result is the reply to a request.
type result uint8

const (
	resultOK result = iota
	resultNoNode
	resultNoDir
	resultExists
	resultRefused
)

// request is a request of a client, on its way to the server or answered by it.
type request struct {
	set      nodeSet // the members to check
	op       operation
	slot     uint8 // which client of the session has sent it
	node     uint8
	epoch    uint8 // of the session
	position uint8 // of the transaction in the log, counted from 1; 0 before the commit
	result   result
	made     uint8 // the node that was created
	ready    uint8 // the "ready" that a read has shown; the version of the barrier's node in a list, or that it must have
}

// session is a session and its one connection, as far as both ends of it go.
type session struct {
	watchSets
	lifetime
	view
	ready     uint8 // "ready" is watched
	lostReady uint8 // "ready" was watched on the last connection
	requests  uint8
	late      uint8
	lateEpoch uint8

	pipe       [maxRequests]request
	lateWrites [maxLate]request // writes of a broken connection that may still be applied
}

// watchSets are the watches of a session.
type watchSets struct {
	data, marker         nodeSet // watches that are set
	lostData, lostMarker nodeSet // watches of the last connection, which setWatches puts back
}

// lifetime says of a session whether it lasts, and is connected.
type lifetime struct {
	connected uint8
	stalled   uint8 // what the client sends does not reach the server any more
	expired   uint8 // the local deadline has passed
	closed    uint8 // the end of the session is in the log
	epoch     uint8 // which session of this client it is
	abandoned uint8 // 1 + an earlier epoch that the servers have not closed yet
}

// view says how much of the log a session's server and its client have seen.
type view struct {
	applied uint8 // how much of the log the server has applied
	seen    uint8 // what the client presents at a reconnect
	half    uint8 // the event of a marker was delivered, that of the deletion was not
	reached uint8 // how many requests had reached the server before the stall
	catchUp uint8 // the sync of a reconnect is under way
	since   uint8 // what setWatches presents
	putBack uint8 // setWatches is under way
}

// client is what a contender knows. The fields are shared by the algorithms.
type client struct {
	phase    uint8
	tries    uint8 // of a barrier: the version of its node in the last list
	round    uint8 // of a barrier
	own      uint8 // the client's node
	ahead    uint8 // the node whose marker counts
	reader   uint8 // the node of a lease that was downgraded
	ready    uint8 // the "ready" that was seen
	granted  uint8 // 1 + the position in the log at the grant
	flags    uint16
	watching nodeSet // nodes of which one must go
	members  nodeSet // of the round of a barrier; nodes that were listed
	held     nodeSet // nodes that were granted
	deleting nodeSet // nodes of a latch whose deletion is not answered
	entered  nodeSet // for the checks: the members of the round that was entered
}

// budget says how often each fault may still happen.
type budget [faults]uint8

// fault is something that the user or the world does, and that need not happen.
type fault uint8

const (
	disconnects fault = iota
	stalls
	expiries
	deletions // by an operator
	writes    // by others, into a node of a contender
	cancels   // of an acquisition
	reaps     // of the empty directory
	abandons  // a client gives its session up while the server still keeps it
	downgrades
	stepDowns
	handOvers
	giveUps // of an Enter
	hurries // Leaves that do not wait for the others
	kills
	faults
)

// State is everything: the servers, the sessions, the clients, and what may still go wrong.
type State struct {
	alive, aliveEnd nodeSet // the tree at the beginning and at the end of the log
	founders        nodeSet // the members of the open round of a barrier, for the checks
	dir, dirEnd     uint8
	seq             uint8 // the next sequence number
	nodes, length   uint8 // how many nodes and transactions there are
	highest         uint8 // 1 + the highest token that was granted
	version         uint8 // that of the barrier's node at the beginning of the log: see versionAt
	left            budget
	node            [maxNodes]node
	log             [maxLog]transaction
	session         [maxClients]session
	client          [maxClients]client
}

func b2i(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// The phases of a contender.
const (
	phaseIdle           uint8 = iota
	phaseCreate               // create and list are out
	phaseSearch               // after a lost reply: sync and list are out
	phaseList                 // the list is out
	phaseArm                  // the watches are out
	phaseWait                 // the watches are set
	phaseHeld                 // granted; leading; in
	phaseHeldRead             // the write lease was released, the downgraded read lease is held
	phaseDelete               // the deletion of the node is out
	phaseDeleteRead           // that of the reader's node
	phaseCheck                // Java's latch looks who owns its node
	phaseOpen                 // a barrier: the transaction that opens it is out
	phaseGuest                // the transaction of one who comes late is out
	phaseEnterSweepLook       // the look for a "ready" that is left is out
	phaseEnterSweep           // its deletion is out
	phaseGiveUpLook           // giving up: the look at "ready" is out
	phaseGiveUp               // the delete is out, and the second look
	phaseLeave                // leaving: the look at "ready" and the list are out
	phaseLast                 // the transaction of the last one is out
	phaseWatchOther           // the watch on another member is out
	phaseWaitOther            // waits for another member
	phaseLeaveDelete          // the deletion of the own node is out
	phaseLeaveList            // the list is out
	phaseSweepLook            // the own node is gone: the look for a "ready" that is left is out
	phaseSweep                // its deletion is out
	phaseDone
	phaseDead // its process was killed
)

var phaseNames = []string{
	"idle", "create", "search", "list", "arm", "wait", "held", "held (read)", "delete", "delete (read)", "check",
	"open", "pass as a guest", "look at ready", "delete ready", "give up: look", "give up: delete", "leave: look", "leave: last", "leave: watch",
	"leave: wait", "leave: delete", "leave: list", "leave: look at ready", "leave: delete ready", "done", "dead",
}

// isEntering reports whether a member of a barrier is in Enter.
func isEntering(phase uint8) bool {
	return phase >= phaseCreate && phase <= phaseWait || phase >= phaseOpen && phase <= phaseGiveUp
}

// Flags of a contender for a lock, and of a latch.
const (
	cancelled    uint16 = 1 << iota // the user has given up, or closed a latch
	markerSeen                      // the marker came while the own node was not watched
	listAgain                       // list before anything else
	downgraded                      // a downgrade was asked for
	downAnswered                    // ... and answered
	downSearch                      // the reply was lost; sync and list are out
	readerLeaves                    // the read lease is released while the write lease is held
	listedFirst                     // the list came before the create, by mistake
	waited                          // others were ahead
	isNext                          // the only node ahead is of another session, and nothing can take its place
	hasLed                          // a latch has had a term on this node
)

// Flags of a member of a barrier.
const (
	woken          uint16 = 1 << iota // an event came before the replies
	memberLost                        // the session ended while the member was in
	looked                            // the barrier was looked at before
	passing                           // the own node may be gone by the transaction of one who comes late
	deadReady                         // the "ready" that was seen is older than all members
	deletedUnseen                     // the own node is gone, and it is not known since when
	sweptOnce                         // Enter has looked for a "ready" that is left
	readyListed                       // "ready" was in the last list
	hurried                           // the member leaves without waiting
	barrierOpen                       // for the checks: the round was open while the member stood there
	barrierCounted                    // for the checks: an opening has counted the member
)
