// Package check judges the history of a run. Each rule is a file; a violation names the rule and
// the instant, and has the events around it.
//
//	all.go        all rules
//	holds.go      what was held, from when to when it was certainly believed
//	exclusion.go  no two believe at once, and no more than there are leases
//	tokens.go     tokens rise in the order of grants
//	delay.go      after a loss nobody is let in before the lock delay has passed
//	answers.go    every call is answered in time
//	served.go     after the faults everybody is served
//	registers.go  registers that are changed under a lease are linearizable, and lose no change
//	items.go      every item of a queue has one effect
//	rounds.go     nobody is through a double barrier alone
//	visits.go     by the servers' logs, too: nobody enters too early, and nobody leaves before the others
//	members.go    the members of a double barrier in the servers' logs
//	snapshots.go  snapshots of a cache are whole, and do not go back
//	remains.go    nothing is left over, and nothing failed
//
// What an operator takes from a holder is no violation: from the moment at which the nemesis
// begins to delete a node or to end a session, the holds on it count no more.
package check
