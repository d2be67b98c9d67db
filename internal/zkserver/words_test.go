package zkserver_test

import (
	"io"
	"net"
	"regexp"
	"testing"

	"github.com/go-curator/curator/tools/curatortest"
)

// TestFourLetterWords compares the answers with what a real server's look like.
func TestFourLetterWords(t *testing.T) {
	answers := map[string]*regexp.Regexp{
		"ruok": regexp.MustCompile(`\Aimok\z`),
		"srvr": regexp.MustCompile(`\AZookeeper version: 3\.8\.\S.*\nLatency min/avg/max: \d+/\d+\.\d+/\d+\nReceived: \d+\nSent: \d+\n` +
			`Connections: \d+\nOutstanding: 0\nZxid: 0x0\nMode: standalone\nNode count: 5\n\z`),
		"stat": regexp.MustCompile(`\AZookeeper version: 3\.8\.\S.*\nClients:\n( /127\.0\.0\.1:\d+\[\d+\]\(queued=\d+,recved=\d+,sent=\d+\)\n)+\n` +
			`Latency min/avg/max: \d+/\d+\.\d+/\d+\nReceived: \d+\nSent: \d+\nConnections: \d+\nOutstanding: 0\nZxid: 0x0\nMode: standalone\nNode count: 5\n\z`),
		"conf": regexp.MustCompile(`(?s)tickTime=500\nmaxClientCnxns=0\nminSessionTimeout=1000\nmaxSessionTimeout=10000\n.*serverId=0\n`),
		"mntr": regexp.MustCompile(`(?s)\Azk_version\t3\.8\.\S.*\n.*zk_server_state\tstandalone\n`),
	}
	ask := func(t *testing.T, address string) {
		for word, want := range answers {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, word); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !want.Match(got) {
				t.Errorf("%s: %q, %v", word, got, err)
			}
		}
	}
	t.Run("Embedded", func(t *testing.T) {
		ask(t, curatortest.Start(t, curatortest.WithTickTime(tick)).ConnectString())
	})
	t.Run("Real", func(t *testing.T) {
		ask(t, curatortest.Real(t, curatortest.WithTickTime(tick)).ConnectString())
	})
}
