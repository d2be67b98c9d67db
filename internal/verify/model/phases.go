package model

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
