package model

import "slices"

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
