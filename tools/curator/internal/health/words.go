package health

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds beyond which a figure is told.
const (
	slowLatency     = 100 // ms, on average
	manyOutstanding = 100
	farBehind       = 10_000 // transactions
)

// Problems says in words what is not as it should be, nothing if all is well.
func Problems(servers []Server) []string {
	problems := []string{}
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	leaders, up, versions := 0, 0, map[string]bool{}
	for _, s := range servers {
		if s.Error != "" {
			say("%s does not serve: %s.", s.Server, s.Error)
			continue
		}
		up++
		versions[s.Version] = true
		switch s.Mode {
		case "leader", "standalone":
			leaders++
		case "read-only":
			say("%s has lost its quorum, and serves reads only.", s.Server)
		}
		if s.Mode == "standalone" && len(servers) > 1 {
			say("%s is alone: it is not part of an ensemble with the others.", s.Server)
		}
		if s.LatencyAvg > slowLatency {
			say("%s is slow: requests have taken %.0f ms on average.", s.Server, s.LatencyAvg)
		}
		if s.Outstanding > manyOutstanding {
			say("%s has %d requests that wait.", s.Server, s.Outstanding)
		}
	}
	switch {
	case up == 0:
		say("No server serves.")
	case leaders == 0:
		say("None of these servers is the leader. If the ensemble has others, name all of them.")
	case leaders > 1:
		say("There is more than one leader: these are servers of different ensembles.")
	}
	if len(versions) > 1 {
		say("The servers run different versions of ZooKeeper.")
	}
	return append(problems, behind(servers)...)
}

// behind names the followers that are far behind their leader. A zxid is an epoch and a counter,
// 32 bits each.
func behind(servers []Server) (problems []string) {
	var leader uint64
	for _, s := range servers {
		if s.Mode == "leader" {
			leader = zxid(s.Zxid)
		}
	}
	for _, s := range servers {
		at := zxid(s.Zxid)
		if s.Mode != "follower" && s.Mode != "observer" || at >= leader {
			continue
		}
		if at>>32 != leader>>32 {
			problems = append(problems, fmt.Sprintf("%s is in an earlier epoch than the leader.", s.Server))
		} else if leader-at > farBehind {
			problems = append(problems, fmt.Sprintf("%s is %d transactions behind the leader.", s.Server, leader-at))
		}
	}
	return problems
}

func zxid(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64) // 0 says nothing
	return n
}
