package model

// barrierRules describes a member of a double barrier, in Enter. Leaving is in barrierleave.go. Each
// node has a fresh name (rule B1), so a name stands for one node.
type barrierRules struct {
	wrong barrierMistake
}

// barrierMistake is what a member does wrong on purpose.
type barrierMistake uint8

const (
	barrierRight       barrierMistake = iota
	memberUnwatched                   // Enter does not watch the own node
	opensUnchecked                    // the transaction that opens does not check the members (Java)
	deadReadyLetsIn                   // a "ready" that is older than the own node lets in
	anyEventReleases                  // any event is the release (Java 5.4.0)
	countsOnly                        // a wake-up counts the members, and does not look at "ready"
	looksUnwatched                    // the look after a wake-up sets no watch
	guestInTwoSteps                   // who comes late looks, and then deletes its node
	givesUpBlindly                    // giving up deletes the node and does not look again
	leavesAtOne                       // a member leaves when one other is left (Java)
	waitsForAll                       // Leave waits for every node, those of the next round too
	removesReadyFreely                // every member deletes "ready" at the end (Java)
	opensUnmarked                     // no mistake: it may not write to the barrier's node
	leavesReady                       // nobody but the last member and the next round deletes "ready"
	sweepsFreely                      // a "ready" that is left of a round is deleted whatever has changed
	sweepsByVersion                   // ... if the version of the barrier's node has not
	sweepsByMark                      // ... if it is marked
)

// pending stands for the node that the create ahead of a request will make.
const pending = 0xfe

func (a barrierRules) kind() nodeKind { return member }

func (a barrierRules) isJava() bool { return false }

func (a barrierRules) isLatch() bool { return false }

func (a barrierRules) putsBack() bool { return false }

// next ends a round. The user begins the next one, if there is one.
func (a barrierRules) next(w *world, c uint8) {
	cl := &w.client[c]
	round := cl.round + 1
	*cl = client{phase: phaseDone, own: none, ahead: none, reader: none, ready: none}
	if int(round) < w.cfg.rounds {
		cl.phase, cl.round = phaseIdle, round
	}
}
