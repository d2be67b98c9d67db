// Package process runs programs that must end before, or with, the program that started them:
// servers for tests and benchmarks, and other clients.
//
// It guarantees this only on Linux, where the kernel ends them. On other systems a killed
// program leaves its child programs behind. Programs that a started program starts are not
// covered.
//
// A Process may be used by any number of goroutines.
package process

import (
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Process is one run of a program.
type Process struct {
	os    *os.Process
	ended chan struct{} // closed when the process has been waited for
	err   error         // how it ended; after ended
}

// Start starts cmd. It is waited for by a goroutine that keeps its thread from the start to
// the end, because on Linux the kernel is asked to end the process with the thread that
// started it.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{ended: make(chan struct{})}
	started := make(chan error, 1)
	endWithParent(cmd)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.os = cmd.Process
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.ended
		return nil, err
	}
	return p, nil
}

// OS returns the process as the system knows it, to send it signals.
func (p *Process) OS() *os.Process { return p.os }

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits for the end of the process and returns how it ended, as exec.Cmd's Wait does.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Kill ends the process and waits for it.
func (p *Process) Kill() {
	_ = p.os.Kill() // an error says that it has ended
	<-p.ended
}

// Stop asks the process to end with a signal and waits for it. If that takes longer than
// patience, or the system has no such signal, it is killed.
func (p *Process) Stop(sig os.Signal, patience time.Duration) {
	if err := p.os.Signal(sig); err != nil { // it has ended, or has to be
		p.Kill()
		return
	}
	p.WaitOrKill(patience)
}

// WaitOrKill waits for the end of a process that knows that it is to end, and kills it
// after patience. It tells whether the process has ended by itself.
func (p *Process) WaitOrKill(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		p.Kill()
		return false
	}
}
