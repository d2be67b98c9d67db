package curatortest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/process"
	"github.com/go-curator/curator/internal/zkserver/netfault"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// Member is one server of an Ensemble.
type Member struct {
	ensemble *Ensemble
	setup    setup
	proxy    *netfault.Proxy
	secure   *netfault.Proxy // the proxy of its port for TLS; nil without TLS

	mu           sync.Mutex       // held while the process is started or ended
	installation installation     // what the next process runs
	process      *process.Process // nil before the first start
}

func newMember(e *Ensemble, in installation, s setup) (*Member, error) {
	p, err := netfault.NewProxy(s.address())
	if err != nil {
		return nil, err
	}
	p.Delay(netfault.Both, s.latency)
	p.Wrap = func(server net.Conn) net.Conn { return &greeting{Conn: server, tell: e.granted.add} }
	p.Start()
	m := &Member{ensemble: e, setup: s, proxy: p, installation: in}
	if s.extras.securePort == 0 {
		return m, nil
	}
	if m.secure, err = netfault.NewProxy(local(s.extras.securePort)); err != nil {
		p.Close()
		return nil, err
	}
	m.secure.Delay(netfault.Both, s.latency)
	m.secure.Start()
	return m, nil
}

// ConnectString names only this server.
func (m *Member) ConnectString() string { return m.proxy.Address() }

// DataDir returns the folder with the server's snapshots and transaction logs, which is removed when the
// servers are closed. Java: TestingServer.getTempDirectory.
func (m *Member) DataDir() string { return m.setup.dataDir() }

// Log returns the last lines of the server's log, for the report of a test that has failed.
func (m *Member) Log() string { return logTail(m.setup.dir) }

// Kill ends the server's process immediately; Start or Restart starts it again.
// Java: TestingCluster.killServer.
func (m *Member) Kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process.Kill()
}

// Stop asks the server to end, and waits until it has ended; Start or Restart starts it again.
func (m *Member) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	stopServer(m.process)
}

// Start starts the server with its data, unless it runs, and waits until it serves. In an
// ensemble a majority of the servers must run for this. See Ensemble.Start for all of them.
func (m *Member) Start() {
	m.ensemble.tb.Helper()
	err := m.launchStopped()
	if err == nil {
		err = m.awaitServing()
	}
	if err != nil {
		m.ensemble.tb.Fatalf("start ZooKeeper: %v", err)
	}
}

// launchStopped starts the process unless it runs.
func (m *Member) launchStopped() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil {
		select {
		case <-m.process.Ended():
		default:
			return nil
		}
	}
	return m.launch()
}

// Restart stops the server if it runs, starts it with its data, and waits until it serves.
// Java: TestingCluster.restartServer.
func (m *Member) Restart() {
	m.ensemble.tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	stopServer(m.process)
	err := m.launch()
	if err == nil {
		err = m.awaitServing()
	}
	if err != nil {
		m.ensemble.tb.Fatalf("restart ZooKeeper: %v", err)
	}
}

// Pause stops the server's process with SIGSTOP until resume is called or the test ends. On systems
// without that signal, such as Windows, it fails the test.
func (m *Member) Pause() (resume func()) {
	m.ensemble.tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	paused := m.process
	if err := paused.Suspend(); err != nil {
		m.ensemble.tb.Fatalf("pause ZooKeeper: %v", err)
	}
	resume = sync.OnceFunc(func() {
		_ = paused.Resume() // it fails if the process has ended
	})
	m.ensemble.tb.Cleanup(resume)
	return resume
}

// Mode returns the mode that the server reports: "leader", "follower" or "standalone". It
// returns "" if the server does not serve clients now. A deposed leader may still report
// "leader" until it notices. Network faults of this package do not affect Mode.
func (m *Member) Mode() string {
	if m.hasEnded() {
		return ""
	}
	mode, err := serverMode(m.setup.address())
	if err != nil {
		return ""
	}
	return mode
}

// hasEnded reports whether the server has no process, or one that has ended. Another program may have
// its port then.
func (m *Member) hasEnded() bool {
	if !m.mu.TryLock() { // the process is being started or stopped
		return false
	}
	defer m.mu.Unlock()
	if m.process == nil {
		return true
	}
	select {
	case <-m.process.Ended():
		return true
	default:
		return false
	}
}

// launch starts the process.
func (m *Member) launch() error {
	cmd, log, err := m.setup.command(m.installation)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own descriptor of the file
	p, err := process.Start(cmd)
	if err != nil {
		return fmt.Errorf("%v: %w", cmd, err)
	}
	m.process = p
	return nil
}

// awaitServing waits until the server serves clients.
func (m *Member) awaitServing() error {
	err := awaitServing(m.process, func() (string, error) { return serverMode(m.setup.address()) })
	if err == nil && m.secure != nil { // the server listens for TLS later than on the plain port
		err = awaitServing(m.process, m.setup.extras.secureMode)
	}
	if err != nil {
		return fmt.Errorf("%w; the end of its log:\n%s", err, logTail(m.setup.dir))
	}
	return nil
}

// close kills the server and closes its proxies. Its data is not needed any more.
func (m *Member) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil {
		m.process.Kill()
	}
	m.proxy.Close()
	if m.secure != nil {
		m.secure.Close()
	}
}

// AdminPort returns the port of the server's AdminServer on the loopback interface, 0 without
// [WithAdminServer]. Network faults of this package do not affect it.
func (m *Member) AdminPort() int { return m.setup.adminPort }

// takeoverTimeout bounds the time in which one server must close a session.
const takeoverTimeout = 5 * time.Second

// closeSession resumes a session on a connection to this server, and closes the session.
func (m *Member) closeSession(session jute.ConnectResponse) error {
	c, err := m.dialRaw(jute.ConnectRequest{TimeOut: session.TimeOut, SessionID: session.SessionID, Passwd: session.Passwd})
	if err != nil {
		return err
	}
	defer c.Conn.Close()
	reply, err := c.Do(jute.OpClose, nil)
	if err == nil && reply.Err != jute.CodeOK {
		err = fmt.Errorf("closeSession: code %d", reply.Err)
	}
	return err
}

// dialRaw connects to the server itself, without its proxy.
func (m *Member) dialRaw(req jute.ConnectRequest) (*rawclient.Client, error) {
	conn, err := net.DialTimeout("tcp", m.setup.address(), takeoverTimeout)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(takeoverTimeout)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return rawclient.Connect(conn, req)
}

// SessionIDs returns the ids of the sessions that the ensemble knows, in ascending order, including sessions
// without a connection; local sessions, of servers with WithReadOnlyMode, are not among them. See
// [Server.SessionIDs]. The leader, or the only server, is asked for it by the word dump. The test fails if it
// does not answer within some seconds.
func (e *Ensemble) SessionIDs() []int64 {
	e.tb.Helper()
	var err error
	for begin := time.Now(); time.Since(begin) < takeoverTimeout; <-time.After(askInterval) {
		for _, m := range e.members {
			if mode := m.Mode(); mode != "leader" && mode != "standalone" {
				continue
			}
			var ids []int64
			if ids, err = m.sessionIDs(); err == nil {
				return ids
			}
		}
	}
	e.tb.Fatalf("session ids: no leader answers: %v", err)
	return nil
}

// askInterval is the time between two questions for a leader.
const askInterval = 50 * time.Millisecond

// sessionIDs asks a leader, or the only server.
func (m *Member) sessionIDs() ([]int64, error) {
	conn, err := net.DialTimeout("tcp", m.setup.address(), time.Second)
	if err != nil {
		return nil, err
	}
	text, err := askWord(conn, "dump")
	if err != nil {
		return nil, err
	}
	return dumped(text)
}

// dumped returns the sessions in the answer to dump. It begins with the tracker's sessions, by the time of their
// end, each on a line behind tabs; the sessions that have ephemeral nodes come again behind that.
func dumped(text string) (ids []int64, err error) {
	_, text, ok := strings.Cut(text, "Session Sets (")
	if !ok {
		return nil, fmt.Errorf("dump: %q", text)
	}
	text, _, _ = strings.Cut(text, "ephemeral nodes dump")
	for line := range strings.Lines(text) {
		hex, ok := strings.CutPrefix(strings.TrimSpace(line), "0x")
		if !ok {
			continue
		}
		id, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("dump: %w", err)
		}
		ids = append(ids, int64(id))
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// FillDisk makes writes to the server's files fail until free is called or the test ends, as on
// a full disk. A server ends when it cannot write its log: Start or Restart it when there is
// room again. A server that is started again has room. It works only on Linux; elsewhere the
// test fails.
func (m *Member) FillDisk() (free func()) {
	m.ensemble.tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	full := m.process
	if err := limitFiles(full.OS().Pid, true); err != nil {
		m.ensemble.tb.Fatalf("fill ZooKeeper's disk: %v", err)
		return func() {}
	}
	free = sync.OnceFunc(func() {
		_ = limitFiles(full.OS().Pid, false) // it fails if the process has ended
	})
	m.ensemble.tb.Cleanup(free)
	return free
}
