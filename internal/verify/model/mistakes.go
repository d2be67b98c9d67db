package model

import "slices"

// Mistakes returns algorithms that are wrong on purpose. Exploring each must find a violation of the
// letter that its Config expects. Those that need many states are left out of tier Race.
func Mistakes(tier Tier) []*Config {
	all := slices.Concat(lockMistakes(), lockWorlds(), latchMistakes(), barrierMistakes())
	if tier > Race {
		return all
	}
	return slices.DeleteFunc(all, func(cfg *Config) bool { return cfg.large })
}

// large marks what is left out of tier Race.
func large(cfg *Config) { cfg.large = true }

func mistake(name, about, expect string, contenders []Contender, left budget, with ...func(*Config)) *Config {
	c := &Config{
		Name: name, About: about, Contenders: contenders, Faults: left, Expect: expect, OnlyExpect: true,
		leases: 1, rounds: 1, retries: 2,
	}
	for _, f := range with {
		f(c)
	}
	return c
}

// wrong returns an algorithm with a mistake.
func (a lockRules) with(m lockMistake) lockRules { a.wrong = m; return a }

func (a latchRules) with(m latchMistake) latchRules { a.wrong = m; return a }

func lockMistakes() []*Config {
	every := eagerMutex
	return []*Config{
		mistake("marker by setData", "a change of the data is taken for the marker: so a revocation is, too", "A",
			times(3, every.with(markerBySetData)), some(writes, 1)),
		mistake("deletion grants", "NodeDeleted of the node ahead is taken for the marker", "A",
			times(3, every.with(deletionGrants)), some(cancels, 1), large),
		mistake("any event grants", "the event that ends a session's watches is taken for the marker", "B",
			times(2, every.with(anyEventGrants)), some(disconnects, 1, expiries, 1)),
		mistake("a cancelled waiter marks", "a waiter that gives up deletes its node with the marker", "A",
			times(3, every.with(cancelMarks)), some(cancels, 1), large),
		mistake("a reader marks", "a reader releases with the marker", "A",
			[]Contender{goReader.with(readerMarks), goReader.with(readerMarks), goWriter.with(readerMarks)}, some()),
		mistake("marker after a downgrade", "a writer that was downgraded releases with the marker", "A",
			[]Contender{lockRules{marker: true, eager: true, downgrade: true, wrong: markAfterDowngrade}, lockRules{marker: true}}, some(downgrades, 1)),
		mistake("downgrade with a new number", "the reader does not take the writer's number (Java 5.4.0)", "A",
			[]Contender{lockRules{marker: true, downgrade: true, fresh: true}, goWriter}, some(downgrades, 1)),
		mistake("downgrade unchecked", "nobody looks whether the writer's node was there when the reader's was made", "A",
			times(2, goDowngrader.with(downgradeUnchecked)), some(downgrades, 1, deletions, 1)),
		mistake("marker of the first node", "the marker of the first node is watched, not that of the node right ahead", "A",
			times(3, every.with(markerOfFirst)), some()),
		mistake("marker alone", "the node ahead is not watched beside its marker", "C",
			times(3, every.with(markerAlone)), some(cancels, 1)),
		mistake("marker alone, beside Java", "a Java holder makes no marker", "C",
			[]Contender{javaMutex, every.with(markerAlone)}, some()),
		mistake("own node not watched", "the marker grants a waiter whose node an operator has deleted", "B",
			times(2, every.with(ownUnwatched)), some(deletions, 1)),
		mistake("own node watched from the grant on", "the same", "B",
			times(2, every.with(ownWatchedLate)), some(deletions, 1)),
		mistake("list before create", "the list is sent before the create", "A",
			times(3, every.with(listFirst)), some()),
		mistake("foreign session's node kept", "the node of an earlier session is kept", "F",
			times(2, every.with(adoptsOld)), some(disconnects, 1, abandons, 1), goodClocks),
		mistake("search without sync", "after a lost reply the own node is looked for at any server", "C",
			times(2, every.with(noSearchSync)), some(disconnects, 1), func(c *Config) { c.noCatchUp = true }),
		mistake("search without sync, Java", "the same in Java Curator", "C",
			times(2, javaMutex), some(disconnects, 1)),
		mistake("half-armed", "watches are relied on although the connection broke before all replies were in", "C",
			times(2, every.with(trustsHalfArmed)), some(disconnects, 1)),
		mistake("one watched of several", "a semaphore's waiter watches only the node at index - maxLeases", "C",
			times(4, goSemaphore.with(watchesOne)), some(), twoLeases, large),
		mistake("one watched of several, Java", "Java's InterProcessSemaphore", "C",
			times(4, javaSemaphore), some(), twoLeases, large),
		mistake("next, own session", "the end of the only node ahead grants, although both nodes are of one session", "B",
			times(2, goMutex.with(nextOfOwnSession)), some(expiries, 1), sharing(0, 0)),
		mistake("next behind a writer", "the end of a writer's node grants, although a downgraded reader may have its place", "A",
			[]Contender{goDowngrader, goWriter.with(nextBehindWriter)}, some(downgrades, 1)),
		mistake("hands over what is being deleted", "the hold is handed over although the delete was sent", "F",
			times(2, plainMutex.with(handsOverDeleted)), some(handOvers, 1), goodClocks),
		mistake("hands over without the watch", "the watch on the node is given back with the old lease", "G",
			times(2, goMutex.with(handsOverUnwatched)), some(handOvers, 1, deletions, 1)),
		mistake("hands over with a new deadline", "the deadline of the new lease begins with the hand-over", "F",
			times(2, plainMutex.with(handsOverOwnDeadline)), some(handOvers, 1, stalls, 1, expiries, 1), goodClocks),
	}
}

// lockWorlds are mistakes that are not in the algorithm of one contender.
func lockWorlds() []*Config {
	late := func(c *Config) { c.goodClocks, c.noDeadline = true, true }
	return []*Config{
		mistake("deadline ignored", "an event or a reply that arrives after the local deadline grants", "F",
			times(2, markerMutex), some(stalls, 1, expiries, 1), late),
		mistake("deadline ignored, no marker", "the same", "F",
			times(2, plainMutex), some(stalls, 1, expiries, 1), late),
		mistake("own zxids ignored", "the zxids of the wrapper's own replies do not count at a reconnect", "C",
			times(2, lockRules{marker: true, setsBack: true}), some(disconnects, 1), func(c *Config) { c.ownZxidsOff, c.noCatchUp = true, true }),
		mistake("no sync, servers before 3.9", "events carry no zxid, and nobody syncs after the reconnect", "E",
			times(2, eagerMutex), some(disconnects, 1), func(c *Config) { c.noEventZxid, c.noCatchUp = true, true }),
		mistake("token of the reader's node", "a downgraded lease shows the czxid of its own node", "T",
			times(2, goDowngrader), some(downgrades, 1), func(c *Config) { c.readerToken = true }),
		mistake("the last number", "a server repeats its highest sequence number", "A",
			times(3, markerMutex), some(), func(c *Config) { c.lastNumber, c.firstNumber = true, endOfNumbers-1 }),
		mistake("Java's downgrade", "Java does not notice that the writer's node is gone", "A",
			[]Contender{javaDown, goWriter, goWriter}, some(downgrades, 1, deletions, 1), withJava, large),
	}
}

func latchMistakes() []*Config {
	pair := func(m latchMistake) []Contender { return times(2, goLatch.with(m)) }
	session := func(m latchMistake) []Contender { return times(2, sessionLatch.with(m)) }
	java := func(c *Config) { c.javaSyncs = true }
	return []*Config{
		mistake("latch: no deadline", "a kept node is taken for a kept term", "F", session(termWithoutDeadline), some(stalls, 1, expiries, 1), goodClocks),
		mistake("latch: deadline ignored", "a list that arrives after the deadline begins a term", "F", times(2, goLatch), some(stalls, 1, expiries, 1),
			func(c *Config) { c.goodClocks, c.noDeadline = true, true }),
		mistake("latch: foreign session's node kept", "the node of an earlier session is kept", "F", pair(keepsOldNode), some(disconnects, 1, abandons, 1), goodClocks),
		mistake("latch: the same in Java 5.4.0", "CURATOR-696", "F", times(2, javaLatch), some(disconnects, 1, abandons, 1), goodClocks, java),
		mistake("latch: term outlives its session", "the end of the session ends the term with the next list only", "F",
			session(termOutlivesSession), some(disconnects, 1, abandons, 1), goodClocks),
		mistake("latch: own node not watched", "a leader does not watch its node", "G", pair(latchUnwatched), some(deletions, 1)),
		mistake("latch: the same in Java 5.4.0, two lead", "an operator's deletion makes two leaders for good", "L", times(2, javaLatch), some(deletions, 1), java),
		mistake("latch: the same in Java's next version", "the same", "L", times(2, javaHead), some(deletions, 1), java),
		mistake("latch: old list", "a list that was sent for the former node decides for the new one", "F", pair(takesOldList), some(stepDowns, 1), goodClocks),
		mistake("latch: old event", "the deletion of the former node is taken for that of the new one", "L", pair(takesOldEvent), some(stepDowns, 1), large),
		mistake("latch: deletes before ending", "stepping down deletes the node, and ends the term when that is known", "F",
			pair(deletesBeforeEnding), some(stepDowns, 1), goodClocks),
		mistake("latch: NoNode ignored", "NoNode for the node ahead is ignored", "C", pair(ignoresNoNode), some()),
		mistake("latch: data change", "a change of the data uses up the watch on the node ahead", "C", pair(changeUsesUpWatch), some(writes, 1)),
		mistake("latch: data change, Java", "the same in Java", "C", times(2, javaLatch), some(writes, 1)),
		mistake("latch: data change of the own node", "a change of the data uses up the watch on the own node", "G",
			pair(changeUsesUpWatch), some(writes, 1, deletions, 1)),
		mistake("latch: closes during create", "Close does not wait for the reply to a create", "O", pair(closesEarly), some()),
		mistake("latch: creates once", "a create that failed is only logged (Java)", "L", pair(createsOnce), some(reaps, 1)),
		mistake("latch: search without sync", "a node of a lost reply is not found, and is first in the line", "L",
			pair(latchNoSearchSync), some(disconnects, 1), func(c *Config) { c.noCatchUp = true }),
		mistake("latch: search without sync, Java", "the same in Java", "L", times(2, javaLatch), some(disconnects, 1)),
		mistake("latch: deletes once", "the delete of the former node is not repeated", "L", pair(deletesOnce), some(stepDowns, 1, disconnects, 1), large),
		mistake("latch: trusts lost watches", "a waiter relies on watches that nobody put back", "C", pair(trustsLostWatches), some(disconnects, 1), large),
		mistake("latch: deletion grants", "the deletion of the node ahead begins a term", "A", times(3, goLatch.with(latchDeletionGrants)), some(), large),
		mistake("latch: never made again", "a node that was deleted by hand is not made again", "L", pair(neverMadeAgain), some(deletions, 1)),
		mistake("latch: token of the number", "the token is the sequence number, which begins again in a new directory", "T",
			times(2, goLatch), some(reaps, 1), func(c *Config) { c.tokenOfNumber = true }),
	}
}

func barrierMistakes() []*Config {
	of := func(n int, m barrierMistake) []Contender { return times(n, barrierRules{wrong: m}) }
	return []*Config{
		mistake("barrier: own node not watched", "Enter does not watch its node", "P3", of(2, memberUnwatched), some(deletions, 1), ofBarrier(2, 1)),
		mistake("barrier: opens unchecked", "the transaction that opens does not check the members (Java)", "P1", of(2, opensUnchecked), some(kills, 1), ofBarrier(2, 1)),
		mistake("barrier: dead ready lets in", "a ready that is left of a round that died lets in", "P1", of(3, deadReadyLetsIn), some(kills, 2), ofBarrier(2, 1)),
		mistake("barrier: any event releases", "any event is taken for the release (Java 5.4.0)", "P1", of(2, anyEventReleases), some(expiries, 1), ofBarrier(2, 2)),
		mistake("barrier: counts only", "a wake-up only counts the members", "P3", of(2, countsOnly), some(), ofBarrier(2, 1)),
		mistake("barrier: looks without a watch", "the look after a wake-up sets no watch", "P3", of(2, looksUnwatched), some(disconnects, 1), ofBarrier(2, 1)),
		mistake("barrier: guest in two steps", "who comes late looks, and then deletes its node", "P1", of(2, guestInTwoSteps), some(expiries, 1), ofBarrier(2, 2), large),
		mistake("barrier: gives up blindly", "giving up deletes the node, and does not look again", "P4", of(2, givesUpBlindly), some(giveUps, 1), ofBarrier(2, 1)),
		mistake("barrier: leaves at one", "a member leaves when one other is left (Java)", "P2", of(3, leavesAtOne), some(kills, 1), ofBarrier(3, 1), large),
		mistake("barrier: a dead ready stays", "a ready that is left of a round is replaced by the next round only", "P5", of(2, leavesReady), some(kills, 1), ofBarrier(2, 1)),
		mistake("barrier: a dead ready stays, Java", "the same; a member in Java comes, and takes the round for an open one", "P6",
			append(of(2, leavesReady), javaMember), some(kills, 1), ofBarrier(2, 1), javaLast),
		mistake("barrier: removes freely", "a dead ready is removed without a condition", "P5", of(2, sweepsFreely), some(hurries, 2), ofBarrier(2, 2)),
		mistake("barrier: removes by the mark", "on the condition that ready is marked", "P5", of(2, sweepsByMark), some(hurries, 2), ofBarrier(2, 2)),
		mistake("barrier: removes by the version", "on the condition that the barrier's node is as it was", "P5",
			append(of(1, sweepsByVersion), javaMember), some(hurries, 1), ofBarrier(2, 2), beside),
		mistake("barrier: made anew", "the barrier's node is removed and made anew while a removal is under way", "P5",
			of(2, barrierRight), some(hurries, 1, reaps, 1), ofBarrier(1, 2)),
		mistake("barrier: waits for all", "Leave waits for every node, those of the next round too", "P3", of(2, waitsForAll), some(), ofBarrier(2, 2)),
	}
}
