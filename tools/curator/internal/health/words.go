package health

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds above which a value is a problem.
const (
	slowLatency     = 100 // ms, on average
	manyOutstanding = 100
	farBehind       = 10_000 // transactions
)

// Problems returns a sentence for each problem of the servers, none if all is well.
func Problems(servers []Server) []string {
	problems := []string{}
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	leaders, up, versions := 0, 0, map[string]bool{}
	for _, s := range servers {
		if s.Error != "" {
			say("%s does not serve requests: %s.", s.Server, s.Error)
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
			say("%s is a standalone server: it is not in an ensemble with the others.", s.Server)
		}
		if s.LatencyAvg > slowLatency {
			say("%s is slow: requests have taken %.0f ms on average.", s.Server, s.LatencyAvg)
		}
		if s.Outstanding > manyOutstanding {
			say("%s has %d queued requests.", s.Server, s.Outstanding)
		}
	}
	switch {
	case up == 0:
		say("No server serves requests.")
	case leaders == 0:
		say("None of these servers is the leader. If the ensemble has others, name all of them.")
	case leaders > 1:
		say("There is more than one leader: the servers are of different ensembles.")
	}
	if len(versions) > 1 {
		say("The servers run different versions of ZooKeeper.")
	}
	return append(problems, behind(servers)...)
}

// behind returns a problem for each follower that is far behind the leader. A zxid has an epoch and a
// counter, 32 bits each.
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
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64) // 0 if it cannot be parsed
	return n
}
