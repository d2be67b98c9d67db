package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// scenario is a kind of fault, and the servers that the holders of the locks are connected to.
type scenario struct {
	name    string
	what    string
	holders place
	fault   fault

	ticks     []int // the session timeouts of the holders in ticks; nil for those of -timeouts
	apart     bool  // each timeout has its own rounds
	fullScale bool  // times are not scaled
	passes    bool  // the fault is healed when it returns, and no lease may be lost by it
	moves     bool  // holders know all servers, and may move to another one
}

// place is the server that holders are connected to.
type place int

const (
	onFollower place = iota
	onLeader
	everywhere
)

// manyTicks are timeouts in ticks, from the shortest that a server grants to the longest.
var manyTicks = []int{2, 3, 4, 5, 7, 10, 14, 20}

// scenarios returns all scenarios.
func scenarios() []scenario {
	return []scenario{
		{name: "A", what: "a follower cut off from the others, the holder still on it", holders: onFollower, fault: cutOff},
		{name: "A1", what: "as A, but the follower still hears the others", holders: onFollower, fault: cutOffOneWay},
		{name: "B", what: "a follower cut off from all servers and clients, right after it has answered a ping", holders: onFollower, fault: unplug},
		{name: "C", what: "as A, then cut off from the holder, too", holders: onFollower, fault: thenSilent(cutOff)},
		{name: "D", what: "a leader that is deposed and does not notice, the holder on it", holders: onLeader, fault: depose},
		{name: "D1", what: "a leader cut off from the others, which do not notice at once", holders: onLeader, fault: cutOff},
		{name: "D2", what: "as D, and the holder reconnects to the deposed leader", holders: onLeader, fault: thenReconnect(depose)},
		{name: "E", what: "as D, then cut off from the holder", holders: onLeader, fault: thenSilent(depose)},
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

// describe returns a line for each scenario.
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
			return nil, fmt.Errorf("-scenarios: there is no scenario %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// timeouts returns the session timeouts of a scenario's holders, in nominal time.
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
