package zkserver

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/go-curator/curator/internal/zkserver/tree"
)

// built has when each release was built, as it says so itself.
var built = map[tree.Release]string{
	tree.Release380: "2022-02-25 08:49 UTC",
	tree.Release386: "2026-01-28 20:28 UTC",
	tree.Release395: "2026-02-11 20:18 UTC",
}

// version returns what the server says it is, in the form that ZooKeeper gives it: the release that
// it answers as, in the place of the revision its own name, and a date, which is that release's.
func (s *Server) version() string {
	release := s.config.Release
	return fmt.Sprintf("%v-curator-for-go-embedded, built on %s", release, built[release])
}

// wordAnswers has the words with an answer. The others that ZooKeeper knows are refused, as by a
// ZooKeeper whose 4lw.commands.whitelist lacks them. The caller holds the Server's lock.
var wordAnswers = map[fourLetterWord]func(s *Server, asking *conn) string{
	"ruok": func(*Server, *conn) string { return "imok" },
	"isro": func(*Server, *conn) string { return "rw" },
	"srvr": func(s *Server, _ *conn) string { return "Zookeeper version: " + s.version() + "\n" + s.summary() },
	"stat": func(s *Server, _ *conn) string {
		return "Zookeeper version: " + s.version() + "\nClients:\n" + s.clients(false) + s.summary()
	},
	"cons": func(s *Server, _ *conn) string { return s.clients(true) },
	"wchs": func(s *Server, _ *conn) string { return s.watchSummary() },
	"conf": (*Server).settings,
	"mntr": func(s *Server, _ *conn) string { return s.monitor() },
	"envi": func(s *Server, _ *conn) string { return environment(s.version()) },
}

// answer answers a four-letter word and ends the connection.
func (s *Server) answer(c *conn, word fourLetterWord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.gone {
		return
	}
	s.traffic.received++
	c.stats.received++
	text := string(word) + " is not executed because it is not in the whitelist.\n"
	if reply := wordAnswers[word]; reply != nil {
		text = reply(s, c)
	}
	c.send([]byte(text))
	s.finish(c)
}

// clients returns a line for each connection, and an empty one.
func (s *Server) clients(details bool) string {
	var b strings.Builder
	for c := range s.conns {
		if !c.gone {
			b.WriteString(c.describe(details))
		}
	}
	b.WriteString("\n")
	return b.String()
}

// summary returns what srvr and stat end with.
func (s *Server) summary() string {
	return fmt.Sprintf("Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n"+
		"Zxid: 0x%x\nMode: standalone\nNode count: %d\n",
		s.traffic.received, s.traffic.sent, s.connections(), s.state.Zxid(), s.state.Figures().Nodes)
}

// watchSummary returns the answer to wchs, for which ZooKeeper counts the watches on data only.
func (s *Server) watchSummary() string {
	f := s.state.Figures()
	return fmt.Sprintf("%d connections watching %d paths\nTotal watches:%d\n", f.WatchingClients, f.WatchedPaths, f.DataWatches)
}

// settings returns the answer to conf. There are no directories.
func (s *Server) settings(asking *conn) string {
	port := 0
	if address, ok := asking.net.LocalAddr().(*net.TCPAddr); ok {
		port = address.Port
	}
	return fmt.Sprintf("clientPort=%d\nsecureClientPort=-1\ntickTime=%d\nmaxClientCnxns=0\nminSessionTimeout=%d\n"+
		"maxSessionTimeout=%d\nclientPortListenBacklog=-1\nserverId=0\n", port, s.config.TickTime.Milliseconds(),
		s.config.MinSessionTimeout.Milliseconds(), s.config.MaxSessionTimeout.Milliseconds())
}

// monitor returns the answer to mntr, with those of ZooKeeper's metrics that this server has.
func (s *Server) monitor() string {
	f := s.state.Figures()
	var b strings.Builder
	for _, line := range []struct {
		name  string
		value any
	}{
		{"version", s.version()}, {"server_state", "standalone"}, {"ephemerals_count", f.Ephemerals},
		{"num_alive_connections", s.connections()}, {"avg_latency", "0.0"}, {"outstanding_requests", 0},
		{"znode_count", f.Nodes}, {"global_sessions", f.Sessions}, {"packets_sent", s.traffic.sent},
		{"packets_received", s.traffic.received}, {"watch_count", f.Watches},
		{"min_latency", 0}, {"approximate_data_size", f.Bytes}, {"local_sessions", 0},
		{"uptime", s.clock.elapsed().Milliseconds()}, {"max_latency", 0},
	} {
		fmt.Fprintf(&b, "zk_%s\t%v\n", line.name, line.value)
	}
	return b.String()
}

// environment returns the answer to envi. What a Go program does not have is empty.
func environment(version string) string {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var b strings.Builder
	b.WriteString("Environment:\n")
	for _, line := range []struct {
		name  string
		value any
	}{
		{"zookeeper.version", version}, {"host.name", "localhost"}, {"java.version", runtime.Version()}, {"java.vendor", "Go"},
		{"java.home", ""}, {"java.class.path", ""}, {"java.library.path", ""}, {"java.io.tmpdir", os.TempDir()},
		{"java.compiler", runtime.Compiler}, {"os.name", runtime.GOOS}, {"os.arch", runtime.GOARCH}, {"os.version", ""},
		{"user.name", ""}, {"user.home", ""}, {"user.dir", ""},
		{"os.memory.free", megabytes(memory.HeapIdle)}, {"os.memory.max", megabytes(uint64(debug.SetMemoryLimit(-1)))},
		{"os.memory.total", megabytes(memory.Sys)},
	} {
		fmt.Fprintf(&b, "%s=%v\n", line.name, line.value)
	}
	return b.String()
}

// megabytes returns a number of bytes as envi writes it.
func megabytes(bytes uint64) string { return fmt.Sprintf("%dMB", bytes>>20) }

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

// describe returns a connection's line in the answers to stat and, with details, to cons.
// Nothing ever waits to be done, and what is done takes no time.
func (c *conn) describe(details bool) string {
	a := &c.stats
	interest := 0 // in reading: not after a four-letter word
	if c.client.Session != nil {
		interest = 1
	}
	line := fmt.Sprintf(" /%v[%d](queued=0,recved=%d,sent=%d", c.net.RemoteAddr(), interest, a.received, a.sent)
	if details && c.client.Session != nil {
		line += fmt.Sprintf(",sid=0x%x,lop=%s,est=%d,to=%d,lcxid=0x%x,lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0",
			c.client.Session.ID(), a.last, a.established.UnixMilli(), c.client.Session.Timeout().Milliseconds(), a.xid, a.zxid, a.at.Milliseconds())
	}
	return line + ")\n"
}
