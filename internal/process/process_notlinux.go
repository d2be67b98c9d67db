//go:build !linux

package process

import (
	"net"
	"os/exec"
)

// endWithParent does nothing: only Linux can end a process with its parent.
func endWithParent(*exec.Cmd) {}

// KeepsPorts reports whether this system can reserve ports. Elsewhere than on Linux a socket that
// is bound to a port is in the way of the server that wants it.
const KeepsPorts = false

// reservePort takes a port that nobody has.
func reservePort() (port int, release func() error, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close, nil
}
