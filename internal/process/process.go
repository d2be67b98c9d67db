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
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
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

// Ports are ports of the loopback interface for programs that cannot choose one themselves. If
// KeepsPorts they are reserved until Release: the system gives them to nobody who asks for any
// port, as a client does that connects. So a server gets its port although it listens late, like
// a ZooKeeper server that becomes the leader, or again, after a restart. Otherwise the ports are
// only free at the moment: a start that fails is worth another try, with other ports.
//
// The zero Ports has none.
type Ports struct {
	numbers []int
	release []func() error // for each port
}

// ReservePorts reserves n ports.
func ReservePorts(n int) (*Ports, error) {
	p := &Ports{}
	for range n {
		number, release, err := reservePort()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("reserve a port: %w", err), p.Release())
		}
		p.numbers, p.release = append(p.numbers, number), append(p.release, release)
	}
	if !KeepsPorts { // not before all are found, so that they differ
		return p, p.Release()
	}
	return p, nil
}

// Numbers returns the ports.
func (p *Ports) Numbers() []int { return p.numbers }

// Release ends the reservations. It is called after the end of the programs that use the ports,
// and may be called again.
func (p *Ports) Release() error {
	var errs []error
	for _, release := range p.release {
		errs = append(errs, release())
	}
	p.release = nil
	return errors.Join(errs...)
}

// ResetSignals has the programs that this process starts begin with the default actions of SIGHUP and
// SIGINT, also if this process was started to ignore them, as by nohup or in the background of a script.
// It goes on to ignore them itself. Of all other signals that end a program, Go sees to that by itself.
//
// It is for tests that send these signals to programs. A program that starts others for its user must
// not call it: the others are to ignore what the user wants to be ignored.
func ResetSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // nobody receives: a signal that is caught is not inherited
		}
	}
}
