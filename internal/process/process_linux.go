package process

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill the process with the thread that starts it.
func endWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// KeepsPorts reports whether this system can reserve ports.
const KeepsPorts = true

// reservePort binds a socket to a port that the system chooses, and does not listen. The system
// then chooses that port for nobody else. A server that asks for it by number gets it if it sets
// SO_REUSEADDR, as nearly every server does.
func reservePort() (port int, release func() error, err error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, err
	}
	release = func() error { return syscall.Close(socket) }
	defer func() {
		if err != nil {
			_ = release() // err says what is wrong
		}
	}()
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, nil, err
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, nil, err
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		return 0, nil, err
	}
	return name.(*syscall.SockaddrInet4).Port, release, nil
}
