package model

import (
	"fmt"
	"slices"
)

// Tier says where a configuration is explored.
type Tier int

// The tiers. A tier includes those before it.
const (
	// Race is explored by go test -race.
	Race Tier = iota
	// Test is explored by go test.
	Test
	// Table is explored on demand.
	Table
)

// Family is an algorithm with a number of contenders. It must hold under each of its faults.
type Family struct {
	Name    string
	Configs []*Config
}

// family is how a Family is written down.
type family struct {
	name       string
	contenders []Contender
	faults     []faultSet
	only       []string // of the faults; nil for all
	halve      bool     // half of each fault
	with       func(*Config)
}

func (f family) build() Family {
	out := Family{Name: fmt.Sprintf("%s, %d", f.name, len(f.contenders))}
	for _, fs := range f.faults {
		if f.only != nil && !slices.Contains(f.only, fs.name) {
			continue
		}
		c := &Config{Name: out.Name + ": " + fs.name, Contenders: f.contenders, Faults: fs.left, leases: 1, rounds: 1, retries: 2}
		if f.halve {
			c.Faults = c.Faults.halved()
		}
		for _, with := range []func(*Config){fs.with, f.with} {
			if with != nil {
				with(c)
			}
		}
		out.Configs = append(out.Configs, c)
	}
	return out
}

// The contenders of the families, and of the mistakes.
var (
	plainMutex  = lockRules{}
	markerMutex = lockRules{marker: true}
	eagerMutex  = lockRules{marker: true, eager: true}
	goMutex     = lockRules{marker: true, next: true} // what the client does
	tryMutex    = lockRules{marker: true, next: true, try: true}
	javaMutex   = lockRules{java: true}

	goWriter     = lockRules{marker: true, next: true, readWrite: true}
	goReader     = lockRules{of: shared, marker: true, next: true, readWrite: true}
	goDowngrader = lockRules{marker: true, next: true, readWrite: true, downgrade: true}
	javaWriter   = lockRules{java: true}
	javaReader   = lockRules{of: shared, java: true}
	javaDown     = lockRules{java: true, downgrade: true}

	goSemaphore   = lockRules{of: lease}
	javaSemaphore = lockRules{of: lease, java: true}

	goLatch      = latchRules{}
	sessionLatch = latchRules{sessionPolicy: true}
	javaLatch    = latchRules{java: true}
	javaHead     = latchRules{java: true, head: true}

	goMember       = barrierRules{}
	javaMember     = javaMemberRules{}
	javaHeadMember = javaMemberRules{head: true}
	unmarkedMember = barrierRules{wrong: opensUnmarked}
)

// times returns n contenders with one algorithm.
func times(n int, c Contender) []Contender { return slices.Repeat([]Contender{c}, n) }

// withJava: Java does not notice that its node is gone, so its belief may overlap others after an
// operator's deletion. Its search for a node without sync, which may leave a second one, is left out.
func withJava(c *Config) { c.loosely, c.javaSyncs = true, true }

func latchWithJava(c *Config) { c.javaMay, c.javaSyncs = true, true }

func sharing(sessions ...uint8) func(*Config) {
	return func(c *Config) { c.Sessions = sessions }
}

func twoLeases(c *Config) { c.leases = 2 }

func downgrading(c *Config) { c.Faults = c.Faults.halved(); c.Faults[downgrades] = 2 }

func handingOver(c *Config) { c.Faults = c.Faults.halved(); c.Faults[handOvers] = 2 }

func both(fs ...func(*Config)) func(*Config) {
	return func(c *Config) {
		for _, f := range fs {
			f(c)
		}
	}
}

// beside: Java does not check whom it counts, leaves when one other is left, deletes "ready" under others, and may
// sleep through an event.
func beside(c *Config) { c.javaMay = true }

func javaLast(c *Config) { c.javaMay, c.javaLast = true, true }

func ofBarrier(needed, rounds int) func(*Config) {
	return func(c *Config) { c.barrier, c.rounds = needed, rounds }
}

// Families returns the algorithms of the client, alone and beside Java's, up to a tier.
func Families(tier Tier) (out []Family) {
	list := raceFamilies()
	if tier >= Test {
		list = append(list, testFamilies()...)
	}
	if tier >= Table {
		list = append(list, lockTable()...)
		list = append(list, leaderTable()...)
	}
	for _, f := range list {
		out = append(out, f.build())
	}
	return out
}

var (
	single = []string{"calm", "cancel", "revoke", "operator", "disconnect", "expire"}
	// javaDowngrades are without an operator: see the mistake "Java's downgrade".
	javaDowngrades = []string{"calm", "cancel", "revoke", "disconnect", "expire"}
	short          = append([]string{"abandon", "reap", "old server", "cancel, disconnect", "operator, revoke"}, single...)
)

// raceFamilies end within seconds under the race detector.
func raceFamilies() []family {
	return []family{
		{name: "mutex, one of each fault", contenders: times(2, goMutex), faults: lockFaults, only: short, halve: true},
		{name: "mutex, one client", contenders: times(2, goMutex), faults: lockFaults, only: single, with: sharing(0, 0)},
		{name: "mutex beside Java, one of each fault", contenders: []Contender{goMutex, javaMutex}, faults: lockFaults, only: single, halve: true, with: withJava},
		{name: "read-write, downgrades", contenders: []Contender{goDowngrader, goReader}, faults: lockFaults, only: []string{"calm", "revoke"}, with: downgrading},
		{name: "semaphore, 2 leases", contenders: times(3, goSemaphore), faults: lockFaults, only: []string{"calm"}, with: twoLeases},
		{name: "latch, one of each fault", contenders: times(2, goLatch), faults: latchFaults, only: []string{"calm", "step down", "write"}, halve: true},
		{name: "double barrier, 2 of 2", contenders: times(2, goMember), faults: barrierFaults, only: []string{"calm", "disconnect", "kill", "give up", "leave early"}, with: ofBarrier(2, 1)},
	}
}

// testFamilies end within seconds without the race detector.
func testFamilies() []family {
	return []family{
		{name: "mutex", contenders: times(2, goMutex), faults: lockFaults},
		{name: "mutex", contenders: times(3, goMutex), faults: lockFaults, only: []string{"calm", "cancel"}},
		{name: "mutex beside Java", contenders: []Contender{goMutex, javaMutex}, faults: lockFaults, only: single, with: withJava},
		{name: "semaphore, 2 leases", contenders: times(3, goSemaphore), faults: lockFaults, only: []string{"cancel"}, with: twoLeases},
		{name: "mutex, the marker for every waiter", contenders: times(2, markerMutex), faults: lockFaults},
		{name: "mutex, no marker", contenders: times(2, plainMutex), faults: lockFaults},
		{name: "mutex, hand-over", contenders: times(2, goMutex), faults: lockFaults, only: single, with: handingOver},
		{name: "read-write, downgrades", contenders: []Contender{goDowngrader, goWriter, goReader}, faults: lockFaults, only: []string{"calm"}, with: downgrading},
		{name: "read-write beside Java, downgrades", contenders: []Contender{javaDown, goReader}, faults: lockFaults, only: single, with: both(downgrading, withJava)},
		{name: "latch", contenders: times(2, goLatch), faults: latchFaults, halve: true},
		{name: "latch, session policy", contenders: times(2, sessionLatch), faults: latchFaults, halve: true, only: []string{"calm", "step down", "disconnect", "expire", "abandon", "step down, disconnect", "operator, disconnect"}},
		{name: "latch beside Java 5.4.0", contenders: []Contender{goLatch, javaLatch}, faults: latchFaults, halve: true, only: []string{"calm", "step down", "operator", "disconnect"}, with: latchWithJava},
		{name: "double barrier, 2 of 2, two rounds", contenders: times(2, goMember), faults: barrierFaults, with: ofBarrier(2, 2)},
		{name: "double barrier, 2 of 2, all faults", contenders: times(2, goMember), faults: barrierFaults, with: ofBarrier(2, 1)},
		{name: "double barrier, 2 of 3", contenders: times(3, goMember), faults: barrierFaults, only: []string{"calm"}, with: ofBarrier(2, 1)},
		{name: "double barrier, one may not mark, 2 of 2, two rounds", contenders: []Contender{goMember, unmarkedMember}, faults: barrierFaults, only: []string{"calm", "kill", "leave early", "leave early, kill"}, with: ofBarrier(2, 2)},
		{name: "double barrier beside Java 5.4.0, 2 of 2", contenders: []Contender{goMember, javaMember}, faults: barrierFaults, with: both(ofBarrier(2, 1), beside)},
		{name: "double barrier, then Java 5.4.0, 2 of 2", contenders: []Contender{goMember, goMember, javaMember}, faults: barrierFaults, only: []string{"calm", "disconnect", "kill", "give up", "kill, disconnect", "leave early"}, with: both(ofBarrier(2, 1), javaLast)},
	}
}

// lockTable are the families of the locks that take minutes to hours.
func lockTable() []family {
	rw := []Contender{goWriter, goReader, goWriter}
	down := []Contender{goDowngrader, goWriter, goReader}
	return []family{
		{name: "mutex, all faults", contenders: times(3, goMutex), faults: lockFaults},
		{name: "mutex", contenders: times(4, goMutex), faults: lockFaults, only: []string{"calm", "cancel", "revoke", "disconnect", "expire", "operator"}, halve: true},
		{name: "mutex, the marker for every waiter, all faults", contenders: times(3, markerMutex), faults: lockFaults},
		{name: "mutex, no marker, all faults", contenders: times(3, plainMutex), faults: lockFaults},
		{name: "mutex, setWatches", contenders: times(3, lockRules{marker: true, next: true, setsBack: true}), faults: lockFaults, only: []string{"disconnect", "old server", "revoke, disconnect", "operator, disconnect"}},
		{name: "mutex, TryAcquire", contenders: []Contender{goMutex, goMutex, tryMutex, tryMutex}, faults: lockFaults, only: []string{"calm", "cancel", "disconnect", "expire"}, halve: true},
		{name: "mutex, two on one client", contenders: times(3, goMutex), faults: lockFaults, only: single, with: sharing(0, 0, 1)},
		{name: "mutex, the marker refused", contenders: times(3, goMutex), faults: lockFaults, only: []string{"calm", "cancel", "disconnect", "expire"}, with: func(c *Config) { c.refuseMarker = true }},
		{name: "mutex beside Java", contenders: []Contender{goMutex, goMutex, javaMutex}, faults: lockFaults, with: withJava},
		{name: "mutex beside Java", contenders: []Contender{goMutex, goMutex, javaMutex, javaMutex}, faults: lockFaults, only: []string{"calm", "cancel", "revoke", "disconnect"}, halve: true, with: withJava},
		{name: "mutex, hand-over", contenders: times(3, goMutex), faults: lockFaults, with: handingOver},
		{name: "read-write", contenders: rw, faults: lockFaults},
		{name: "read-write, downgrades, all faults", contenders: down, faults: lockFaults, with: downgrading},
		{name: "read-write, downgrades, ties the other way", contenders: down, faults: lockFaults, only: []string{"calm", "cancel", "revoke", "expire"}, with: both(downgrading, func(c *Config) { c.writerSecond = true })},
		{name: "read-write beside Java, downgrades", contenders: []Contender{javaDown, goWriter, goReader}, faults: lockFaults, only: javaDowngrades, with: both(downgrading, withJava)},
		{name: "read-write, downgrades, beside Java", contenders: []Contender{goDowngrader, javaWriter, javaReader}, faults: lockFaults, only: single, with: both(downgrading, withJava)},
		{name: "semaphore, 1 lease", contenders: times(3, goSemaphore), faults: lockFaults},
		{name: "semaphore, 2 leases, all faults", contenders: times(3, goSemaphore), faults: lockFaults, with: twoLeases},
		{name: "semaphore, 2 leases", contenders: times(4, goSemaphore), faults: lockFaults, only: []string{"calm", "cancel"}, halve: true, with: twoLeases},
	}
}

// leaderTable are those of the latch and the barrier.
func leaderTable() []family {
	some := []string{"calm", "step down", "operator", "disconnect", "expire", "abandon", "step down, disconnect", "operator, disconnect", "half-dead, expire"}
	return []family{
		{name: "latch, two of each fault", contenders: times(2, goLatch), faults: latchFaults},
		{name: "latch, session policy, two of each fault", contenders: times(2, sessionLatch), faults: latchFaults},
		{name: "latch", contenders: times(3, goLatch), faults: latchFaults, halve: true},
		{name: "latch, two on one client", contenders: times(3, goLatch), faults: latchFaults, only: some, halve: true, with: sharing(0, 0, 1)},
		{name: "latch beside Java 5.4.0, all faults", contenders: []Contender{goLatch, javaLatch}, faults: latchFaults, only: some, with: latchWithJava},
		{name: "latch beside Java 5.4.0", contenders: []Contender{goLatch, goLatch, javaLatch}, faults: latchFaults, only: []string{"calm", "step down", "operator", "disconnect"}, halve: true, with: latchWithJava},
		{name: "latch beside Java's next version", contenders: []Contender{goLatch, javaHead}, faults: latchFaults, only: some, with: latchWithJava},
		{name: "double barrier, 2 of 3, all faults", contenders: times(3, goMember), faults: barrierFaults, with: ofBarrier(2, 1)},
		{name: "double barrier, 3 of 3", contenders: times(3, goMember), faults: barrierFaults, with: ofBarrier(3, 1)},
		{name: "double barrier, 3 of 3, two rounds", contenders: times(3, goMember), faults: barrierFaults, only: []string{"calm", "kill"}, with: ofBarrier(3, 2)},
		{name: "double barrier beside Java 5.4.0, 2 of 2, two rounds", contenders: []Contender{goMember, javaMember}, faults: barrierFaults, with: both(ofBarrier(2, 2), beside)},
		{name: "double barrier beside Java's next version, 2 of 2, two rounds", contenders: []Contender{goMember, javaHeadMember}, faults: barrierFaults, with: both(ofBarrier(2, 2), beside)},
		{name: "double barrier beside Java 5.4.0, 2 of 3", contenders: []Contender{goMember, goMember, javaMember}, faults: barrierFaults, only: []string{"calm", "kill", "leave early"}, with: both(ofBarrier(2, 1), beside)},
		{name: "double barrier, then Java's next version, 2 of 2", contenders: []Contender{goMember, goMember, javaHeadMember}, faults: barrierFaults, only: []string{"calm", "disconnect", "expire", "kill", "give up", "kill, disconnect", "leave early"}, with: both(ofBarrier(2, 1), javaLast)},
		{name: "double barrier, 2 of 3, two rounds", contenders: times(3, goMember), faults: barrierFaults, only: []string{"calm"}, with: ofBarrier(2, 2)},
	}
}

// faultSet is what may go wrong in a configuration.
type faultSet struct {
	name string
	left budget
	with func(*Config)
}

// some returns a budget.
func some(pairs ...any) (b budget) {
	for pair := range slices.Chunk(pairs, 2) {
		b[pair[0].(fault)] = uint8(pair[1].(int))
	}
	return b
}

func goodClocks(c *Config) { c.goodClocks = true }

// lockFaults are the faults that locks are explored with, each with two at most.
var lockFaults = []faultSet{
	{"calm", some(), nil},
	{"cancel", some(cancels, 2), nil},
	{"revoke", some(writes, 2), nil},
	{"operator", some(deletions, 2), nil},
	{"disconnect", some(disconnects, 2), nil},
	{"expire", some(expiries, 2), nil},
	{"half-dead, expire", some(stalls, 1, disconnects, 1, expiries, 1), goodClocks},
	{"abandon", some(disconnects, 1, abandons, 1), nil},
	{"reap", some(reaps, 2), nil},
	{"old server", some(disconnects, 2), func(c *Config) { c.noEventZxid = true }},
	{"cancel, disconnect", some(cancels, 1, disconnects, 1), nil},
	{"cancel, expire", some(cancels, 1, expiries, 1), nil},
	{"operator, revoke", some(deletions, 1, writes, 1), nil},
	{"operator, disconnect", some(deletions, 1, disconnects, 1), nil},
	{"revoke, disconnect", some(writes, 1, disconnects, 1), nil},
}

// latchFaults are those of the leader latch.
var latchFaults = []faultSet{
	{"calm", some(), nil},
	{"step down", some(stepDowns, 2), nil},
	{"operator", some(deletions, 2), nil},
	{"write", some(writes, 2), nil},
	{"disconnect", some(disconnects, 2), goodClocks},
	{"expire", some(expiries, 2), nil},
	{"half-dead, expire", some(stalls, 1, disconnects, 1, expiries, 1), goodClocks},
	{"abandon", some(disconnects, 1, abandons, 1), goodClocks},
	{"reap", some(reaps, 1, deletions, 1), nil},
	{"step down, disconnect", some(stepDowns, 1, disconnects, 1), goodClocks},
	{"step down, expire", some(stepDowns, 1, expiries, 1), nil},
	{"operator, disconnect", some(deletions, 1, disconnects, 1), nil},
	{"operator, step down", some(deletions, 1, stepDowns, 1), nil},
	{"write, disconnect", some(writes, 1, disconnects, 1), nil},
}

// barrierFaults are those of the double barrier.
var barrierFaults = []faultSet{
	{"calm", some(), nil},
	{"disconnect", some(disconnects, 1), nil},
	{"kill", some(kills, 1), nil},
	{"expire", some(expiries, 1), nil},
	{"give up", some(giveUps, 1), nil},
	{"operator", some(deletions, 1), nil},
	{"kill, disconnect", some(kills, 1, disconnects, 1), nil},
	{"give up, disconnect", some(giveUps, 1, disconnects, 1), nil},
	{"two kills", some(kills, 2), nil},
	{"leave early", some(hurries, 2), nil},
	{"leave early, disconnect", some(hurries, 1, disconnects, 1), nil},
	{"leave early, kill", some(hurries, 1, kills, 1), nil},
	{"kill, expire", some(kills, 1, expiries, 1), nil},
	{"kill, reap", some(kills, 1, reaps, 1), nil},
}

// halved returns a budget with half of each fault, rounded up.
func (b budget) halved() budget {
	for i := range b {
		b[i] = (b[i] + 1) / 2
	}
	return b
}
