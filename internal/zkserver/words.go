package zkserver

import (
	"fmt"
	"strings"
)

// version is what the server says it is. It begins as a ZooKeeper's that answers alike.
const version = "3.8.0-embedded"

// fourLetterWord is a command in place of the first frame.
type fourLetterWord string

// Error makes the word the error of reading a frame.
func (w fourLetterWord) Error() string { return "four-letter word " + string(w) }

// known tells whether there is an answer to the word.
func (w fourLetterWord) known() bool {
	switch w {
	case "ruok", "srvr", "stat", "conf", "mntr":
		return true
	default:
		return false
	}
}

// answer answers a four-letter word and ends the connection.
func (s *Server) answer(c *conn, word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.gone {
		return
	}
	var text string
	switch word {
	case "ruok":
		text = "imok"
	case "srvr":
		text = s.describe(false)
	case "stat":
		text = s.describe(true)
	case "conf":
		text = s.settings()
	case "mntr":
		text = s.monitor()
	}
	c.send([]byte(text))
	s.finish(c)
}

// describe returns the answer to srvr and, with the clients, to stat.
func (s *Server) describe(clients bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Zookeeper version: %s\n", version)
	if clients {
		b.WriteString("Clients:\n")
		for c := range s.conns {
			if c.gone {
				continue
			}
			fmt.Fprintf(&b, " /%v[1](queued=0,recved=0,sent=0)\n", c.net.RemoteAddr())
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n",
		s.traffic.received, s.traffic.sent, s.connections())
	fmt.Fprintf(&b, "Zxid: 0x%x\nMode: standalone\nNode count: %d\n", s.store.zxid, s.store.nodeCount())
	return b.String()
}

// settings returns the answer to conf.
func (s *Server) settings() string {
	return fmt.Sprintf("tickTime=%d\nmaxClientCnxns=0\nminSessionTimeout=%d\nmaxSessionTimeout=%d\nserverId=0\n",
		s.config.TickTime.Milliseconds(), s.config.MinSessionTimeout.Milliseconds(),
		s.config.MaxSessionTimeout.Milliseconds())
}

// monitor returns the answer to mntr.
func (s *Server) monitor() string {
	ephemerals := 0
	for _, sess := range s.store.sessions {
		ephemerals += len(sess.ephemerals)
	}
	return fmt.Sprintf("zk_version\t%s\nzk_server_state\tstandalone\nzk_packets_received\t%d\nzk_packets_sent\t%d\n"+
		"zk_num_alive_connections\t%d\nzk_znode_count\t%d\nzk_watch_count\t%d\nzk_ephemerals_count\t%d\n"+
		"zk_global_sessions\t%d\n",
		version, s.traffic.received, s.traffic.sent,
		s.connections(), s.store.nodeCount(), s.store.watches(), ephemerals, len(s.store.sessions))
}

// connections returns how many connections are open.
func (s *Server) connections() int {
	n := 0
	for c := range s.conns {
		if !c.gone {
			n++
		}
	}
	return n
}

// nodeCount returns how many nodes there are as ZooKeeper counts, the root twice.
func (st *store) nodeCount() int { return len(st.tree) + 1 }
