// Package fleet starts the workers of a run as processes of their own, in Go, Java and Python,
// takes their events, and stops, kills and restarts them.
package fleet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/process"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
)

// Member is one worker, which is a new process after every restart. Its methods may be called
// from several goroutines, which wait for each other; Use has them do several things in a row.
type Member struct {
	name     string
	program  Program
	settings worker.Settings
	dir      string // for what the processes say besides
	note     func(history.Event)

	using sync.Mutex // held by Use

	mu      sync.Mutex
	runs    int
	process *process.Process
	in      io.Closer
	read    chan struct{} // closed when all events of the process are taken
	asked   bool          // it is to end
	killed  bool
}

// New returns a worker that is not started. Its settings have its name. note is told of its events
// and of what is done to it.
func New(program Program, settings worker.Settings, dir string, note func(history.Event)) *Member {
	return &Member{name: settings.Name, program: program, settings: settings, dir: dir, note: note}
}

// Name returns the name, which the processes have with a number behind it.
func (m *Member) Name() string { return m.name }

// Workloads returns what the worker does.
func (m *Member) Workloads() []string { return m.settings.Workloads }

// Use calls do while nobody else uses the member. It is false if somebody does.
func (m *Member) Use(do func()) bool {
	if !m.using.TryLock() {
		return false
	}
	defer m.using.Unlock()
	do()
	return true
}

// Start starts a process, if none runs.
func (m *Member) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil {
		select {
		case <-m.process.Ended():
		default:
			return nil
		}
	}
	m.runs++
	s := m.settings
	s.Name = fmt.Sprintf("%s.%d", m.name, m.runs)
	s.Seed += uint64(m.runs) << 32
	cmd, err := m.program(s)
	if err != nil {
		return err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, events, err := os.Pipe()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(m.dir, s.Name+".log"))
	if err != nil {
		return errors.Join(err, out.Close(), events.Close())
	}
	cmd.Stdout, cmd.Stderr = events, log
	p, err := process.Start(cmd)
	err = errors.Join(err, events.Close(), log.Close())
	if err != nil {
		return errors.Join(err, out.Close())
	}
	m.process, m.in, m.read, m.asked, m.killed = p, in, make(chan struct{}), false, false
	go m.follow(p, s.Name, out, m.read)
	return nil
}

// follow takes the events of a process until it ends.
func (m *Member) follow(p *process.Process, name string, out io.ReadCloser, read chan<- struct{}) {
	defer close(read)
	err := history.Read(out, m.note)
	out.Close()
	if err != nil {
		m.note(history.Event{At: history.Now(), Process: name, Kind: history.Failed, Text: fmt.Sprintf("its events: %v", err)})
	}
	ended := p.Wait()
	m.mu.Lock()
	killed, asked := m.killed, m.asked
	m.mu.Unlock()
	e := history.Event{At: history.Now(), Process: name, Kind: history.Ended}
	if !killed && (ended != nil || !asked) {
		e.Text = fmt.Sprintf("ended by itself: %v; see %s", ended, filepath.Join(m.dir, name+".log"))
	}
	m.note(e)
}

// current returns the process, and its name.
func (m *Member) current() (*process.Process, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process, fmt.Sprintf("%s.%d", m.name, m.runs)
}

// Kill ends the process at once.
func (m *Member) Kill() {
	p, name := m.current()
	m.note(history.Event{At: history.Now(), Process: name, Kind: history.Killing})
	m.mu.Lock()
	m.killed = true
	in, read := m.in, m.read
	m.mu.Unlock()
	p.Kill()
	<-read
	_ = in.Close() // an error says that it has ended
}

// Stop has the process stand still until Continue.
func (m *Member) Stop() error {
	p, name := m.current()
	m.note(history.Event{At: history.Now(), Process: name, Kind: history.Stopping})
	return p.Suspend()
}

// Continue has the process run again after Stop.
func (m *Member) Continue() error {
	p, name := m.current()
	err := p.Resume()
	m.note(history.Event{At: history.Now(), Process: name, Kind: history.Continued})
	return err
}

// End asks the process to end, and waits for it. When that takes too long the process is asked
// for the stacks of its goroutines, which are in its log, and killed; the error says so.
func (m *Member) End(patience time.Duration) error {
	m.mu.Lock()
	p, in, read := m.process, m.in, m.read
	m.asked = true
	m.mu.Unlock()
	if p == nil {
		return nil
	}
	_ = in.Close() // an error says that it has ended
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-read:
		return nil
	case <-timer.C:
	}
	p.Stop(process.ShowStacks, time.Second)
	<-read
	return fmt.Errorf("%s had not ended after %v; its stacks are in %s", m.name, patience, m.dir)
}
