package health

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const answer = `Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC
Latency min/avg/max: 0/1.25/17
Received: 12
Sent: 11
Connections: 3
Outstanding: 2
Zxid: 0x100000002
Mode: follower
Node count: 5
`

func TestParse(t *testing.T) {
	want := Server{
		Mode: "follower", Version: "3.8.4", Zxid: "0x100000002", LatencyAvg: 1.25, LatencyMax: 17,
		Connections: 3, Outstanding: 2, Nodes: 5,
	}
	if got, err := parse(answer); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"srvr is not executed because it is not in the whitelist.":    "4lw.commands.whitelist",
		"This ZooKeeper instance is not currently serving requests\n": "has no quorum",
		"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n":               "not a ZooKeeper server",
		"": "without an answer",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestHealthy(t *testing.T) {
	for modes, want := range map[string]bool{
		"standalone": true, "leader,follower,follower": true, "leader,follower,observer": true,
		"leader,follower,": false, "follower,follower": false, "leader,leader": false,
		"standalone,standalone": false, "read-only": false, "": false,
	} {
		var servers []Server
		for mode := range strings.SplitSeq(modes, ",") {
			servers = append(servers, Server{Mode: mode})
		}
		if got := Healthy(servers); got != want {
			t.Errorf("%s: %v", modes, got)
		}
	}
}
