package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// scenario is a kind of fault, and where the holders of the locks are connected meanwhile.
type scenario struct {
	name    string
	what    string
	holders place
	fault   fault

	ticks     []int // the timeouts of the holders' sessions, if they are not those that were asked for
	apart     bool  // each timeout has rounds of its own
	fullScale bool  // time is not scaled
	passes    bool  // the fault is over when it returns, and no lease is to be lost by it
	moves     bool  // holders know all servers, and may go to another one
}

// place is where holders are connected.
type place int

const (
	onFollower place = iota
	onLeader
	everywhere
)

// manyTicks are timeouts from the shortest that a server grants to the longest.
var manyTicks = []int{2, 3, 4, 5, 7, 10, 14, 20}

// scenarios are all that there are.
func scenarios() []scenario {
	return []scenario{
		{name: "A", what: "a follower cut off from the others, the holder still on it", holders: onFollower, fault: cutOff},
		{name: "A1", what: "as A, but the follower still hears the others", holders: onFollower, fault: cutOffOneWay},
		{name: "B", what: "a follower silent to all right after it answered a ping", holders: onFollower, fault: unplug},
		{name: "C", what: "as A, then silent to the holder, too", holders: onFollower, fault: thenSilent(cutOff)},
		{name: "D", what: "a leader deposed without knowing it, the holder on it", holders: onLeader, fault: depose},
		{name: "D1", what: "a leader cut off from the others, none of which is told", holders: onLeader, fault: cutOff},
		{name: "D2", what: "as D, and the holder reconnects to the deposed leader", holders: onLeader, fault: thenReconnect(depose)},
		{name: "E", what: "as D, then silent to the holder", holders: onLeader, fault: thenSilent(depose)},
		{name: "F", what: "the leader stopped for 0.3 to 2 ticks, then A", holders: onFollower, fault: afterStop(cutOff)},
		{name: "G", what: "a follower that lags by up to a tick, then A", holders: onFollower, fault: whenLagging(cutOff)},
		{name: "HA", what: "A with timeouts from 2 to 20 ticks", holders: onFollower, fault: cutOff, ticks: manyTicks},
		{name: "HC", what: "C with timeouts from 2 to 20 ticks", holders: onFollower, fault: thenSilent(cutOff), ticks: manyTicks},
		{name: "MA", what: "as A, and the holder knows all servers", holders: onFollower, fault: cutOff, moves: true},
		{name: "MC", what: "as C, and the holder knows all servers", holders: onFollower, fault: thenSilent(cutOff), moves: true},
		{name: "MD", what: "as D, and the holder knows all servers", holders: onLeader, fault: depose, moves: true},
		{name: "K", what: "the leader killed and restarted, at full scale", holders: everywhere, fault: restartLeader, fullScale: true, passes: true},
		{name: "L", what: "a fault that heals within 0.26 T", holders: onFollower, fault: passing, apart: true, passes: true},
	}
}

// describe returns what the scenarios are, a line for each.
func describe(list []scenario) string {
	var lines strings.Builder
	for _, s := range list {
		fmt.Fprintf(&lines, "- %s: %s\n", s.name, s.what)
	}
	return lines.String()
}

// chooseScenarios returns the scenarios with the given names, separated by commas, or all.
func chooseScenarios(names string) ([]scenario, error) {
	all := scenarios()
	if names == "" {
		return all, nil
	}
	var chosen []scenario
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(s scenario) bool { return s.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("-scenarios: there is no %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// timeouts returns the timeouts of a scenario's sessions, in nominal time.
func (s scenario) timeouts(asked []time.Duration, nominalTick time.Duration) []time.Duration {
	if len(s.ticks) == 0 {
		return asked
	}
	var timeouts []time.Duration
	for _, n := range s.ticks {
		timeouts = append(timeouts, time.Duration(n)*nominalTick)
	}
	return timeouts
}
