package curatortest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// setup is what a real server needs to run.
type setup struct {
	installation   installation
	dir            string // its configuration, log and data
	port           int
	containerCheck time.Duration
}

// address is where the server itself listens, behind its proxy.
func (s setup) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// newSetups sets n servers up, below dir. More than one form an ensemble.
func newSetups(in installation, dir string, n int, c config) ([]setup, error) {
	ports, err := freePorts(3 * n)
	if err != nil {
		return nil, err
	}
	var peers strings.Builder
	if n > 1 {
		for i := range n {
			fmt.Fprintf(&peers, "server.%d=127.0.0.1:%d:%d\n", i+1, ports[n+2*i], ports[n+2*i+1])
		}
	}
	var setups []setup
	for i := range n {
		s := setup{
			installation:   in,
			dir:            filepath.Join(dir, strconv.Itoa(i)),
			port:           ports[i],
			containerCheck: c.zookeeper.ContainerCheckInterval,
		}
		if err := s.write(i+1, c.zookeeper.TickTime, peers.String()); err != nil {
			return nil, err
		}
		setups = append(setups, s)
	}
	return setups, nil
}

// write writes the server's files.
func (s setup) write(id int, tick time.Duration, peers string) error {
	data := filepath.Join(s.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	// A test's data need not survive the machine, so that nothing waits for the disk.
	settings := fmt.Sprintf(`tickTime=%d
initLimit=40
syncLimit=20
dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
extendedTypesEnabled=true
standaloneEnabled=true
forceSync=no
preAllocSize=1024
%s`, tick.Milliseconds(), data, s.port, peers)
	for name, content := range map[string]string{
		"zoo.cfg":          settings,
		"data/myid":        strconv.Itoa(id),
		"logback.xml":      logback,
		"log4j.properties": log4j,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// The loggers of releases write everything unless they are told otherwise.
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

// command returns the command that runs the server, and the log that it writes to, which
// the caller closes when the command has started.
func (s setup) command() (*exec.Cmd, *os.File, error) {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	// The first flags bring a server up in less than half the time.
	cmd := exec.Command(s.installation.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m",
		fmt.Sprintf("-Dznode.container.checkIntervalMs=%d", s.containerCheck.Milliseconds()),
		"-cp", s.dir+string(os.PathListSeparator)+s.installation.classPath,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(s.dir, "zoo.cfg"))
	cmd.Dir = s.dir
	cmd.Stdout, cmd.Stderr = log, log
	return cmd, log, nil
}

// freePorts returns ports that nobody listens on now.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close() // not before all are found, so that they differ
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
