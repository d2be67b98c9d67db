package curatortest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setup is the configuration of a real server.
type setup struct {
	dir            string // the directory of its configuration, log and data
	port           int
	adminPort      int // 0 without an AdminServer
	containerCheck time.Duration
	neverUsed      time.Duration // after it unused containers go; 0 is never
	production     bool
	reconfig       bool
	latency        time.Duration
	extras         extras   // of WithTLS, WithSASL and WithReadOnlyMode
	environment    []string // more than this process has
}

// address returns the address of the server itself, without its proxy.
func (s setup) address() string { return local(s.port) }

// portsOfServer is the maximum number of ports that a server needs.
const portsOfServer = 5

// newSetups writes the files of n servers into directories below dir. Each server gets portsOfServer
// of the ports. More than one server form an ensemble, with a wiring between them. The caller must
// close the wiring, also after an error.
func newSetups(dir string, n int, ports []int, c config) (_ []setup, _ *wiring, err error) {
	var forPeers []peerPorts
	for i := range n {
		forPeers = append(forPeers, peerPorts{ports[n+2*i], ports[n+2*i+1]})
	}
	var peers *wiring
	var members string
	switch {
	case n == 1:
	case c.reconfig:
		members = fixedMembers(ports, forPeers)
	default:
		if peers, err = newWiring(forPeers); err != nil {
			return nil, nil, err
		}
	}
	var setups []setup
	for i := range n {
		s := setup{
			dir:            filepath.Join(dir, strconv.Itoa(i)),
			port:           ports[i],
			containerCheck: c.zookeeper.ContainerCheckInterval,
			neverUsed:      c.zookeeper.ContainerMaxNeverUsed,
			production:     c.production,
			reconfig:       c.reconfig,
			latency:        c.zookeeper.Latency,
		}
		if s.extras, err = c.security.extras(s.dir, ports[3*n+i]); err != nil {
			return nil, peers, err
		}
		if c.admin {
			s.adminPort = ports[4*n+i]
		}
		if c.environment != nil {
			s.environment = c.environment(i)
		}
		if peers != nil {
			members = peers.settings(i)
		}
		if err := s.write(i, c, members); err != nil {
			return nil, peers, err
		}
		setups = append(setups, s)
	}
	return setups, peers, nil
}

// fixedMembers returns the lines of the configuration that name the members. For an ensemble whose
// members can change these lines must be the same for all members.
func fixedMembers(clients []int, peers []peerPorts) string {
	var lines strings.Builder
	for i, p := range peers {
		fmt.Fprintf(&lines, "server.%d=127.0.0.1:%d:%d:participant;127.0.0.1:%d\n", i+1, p.quorum, p.election, clients[i])
	}
	return lines.String()
}

// dataDir returns the directory of the server's data.
func (s setup) dataDir() string { return filepath.Join(s.dir, "data") }

// write writes the files of server i.
func (s setup) write(i int, c config, members string) error {
	data := s.dataDir()
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	settings := fmt.Sprintf(`tickTime=%d
initLimit=%d
syncLimit=%d
dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=%t
4lw.commands.whitelist=*
extendedTypesEnabled=%t
standaloneEnabled=true
%s`, c.zookeeper.TickTime.Milliseconds(), cmp.Or(c.ticks.init, 40), cmp.Or(c.ticks.sync, 20), data, s.port, c.admin, !c.plainTypes, members)
	if most := c.zookeeper.MaxSessionTimeout; most > 0 {
		least := c.zookeeper.MinSessionTimeout
		settings += fmt.Sprintf("minSessionTimeout=%d\nmaxSessionTimeout=%d\n", least.Milliseconds(), most.Milliseconds())
	}
	if !c.production {
		settings += smallLogs
	}
	if !c.sync {
		settings += unsynced
	}
	if c.admin {
		settings += fmt.Sprintf("admin.serverPort=%d\nadmin.serverAddress=127.0.0.1\n", s.adminPort)
	}
	if c.reconfig {
		settings += "reconfigEnabled=true\n"
	}
	settings += s.extras.settings
	for _, name := range slices.Sorted(maps.Keys(c.settings)) { // a later line overrides an earlier one
		settings += fmt.Sprintf("%s=%s\n", name, c.settings[name])
	}
	if err := s.extras.write(s.dir); err != nil {
		return err
	}
	for name, content := range map[string]string{
		"zoo.cfg":          settings,
		"data/myid":        strconv.Itoa(i + 1),
		"logback.xml":      logback,
		"log4j.properties": log4j,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Properties of real servers. Servers do not wait for the disk, because a test's data need not survive
// a crash of the machine. They run without Java's second compiler, because they then start in less
// than half the time. In an election they send their votes again after 2 s at most. By default these
// pauses grow to a minute, and a server whose votes were not answered in time takes part again only
// after such a pause.
const (
	unsynced  = "forceSync=no\n"
	smallLogs = "preAllocSize=1024\n"
	quickJava = "-XX:TieredStopAtLevel=1"
	quickVote = "-Dzookeeper.fastleader.maxNotificationInterval=2000"
)

// superuser permits everything to clients that authenticate with the digest super:super.
const superuser = "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:gG7s8t3oDEtIqF6DM9LlI/R+9Ss="

// Configurations of the loggers. Without them the loggers of releases write everything.
const (
	logback = `<configuration>
  <appender name="CONSOLE" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5p %c{1} %m%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="CONSOLE"/></root>
</configuration>
`
	log4j = `log4j.rootLogger=INFO, CONSOLE
log4j.appender.CONSOLE=org.apache.log4j.ConsoleAppender
log4j.appender.CONSOLE.layout=org.apache.log4j.PatternLayout
log4j.appender.CONSOLE.layout.ConversionPattern=%d %-5p %c{1} %m%n
`
)

// command returns the command that runs the server with an installation, and the log file that it writes
// to. The caller must close the file after it has started the command.
func (s setup) command(in installation) (*exec.Cmd, *os.File, error) {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	args := []string{
		"-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m",
		fmt.Sprintf("-Dznode.container.checkIntervalMs=%d", s.containerCheck.Milliseconds()),
		fmt.Sprintf("-Dznode.container.maxNeverUsedIntervalMs=%d", s.neverUsed.Milliseconds()),
		"-cp", s.dir + string(os.PathListSeparator) + in.classPath,
	}
	if s.reconfig {
		args = append(args, superuser)
	}
	if !s.production {
		args = append(args, quickJava, quickVote)
	}
	args = append(args, s.extras.properties...)
	args = append(args, "org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(s.dir, "zoo.cfg"))
	cmd := exec.Command(in.java, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), s.environment...)
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, log, nil
}
