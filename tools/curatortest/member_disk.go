package curatortest

import "sync"

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
