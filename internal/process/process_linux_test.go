package process_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/go-curator/curator/internal/process"
)

// from is a socket's option by which the system chooses this port if it has to choose one.
func from(port int) func(_, _ string, socket syscall.RawConn) error {
	return func(_, _ string, socket syscall.RawConn) (err error) {
		control := socket.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_LOCAL_PORT_RANGE, port<<16|port)
		})
		return errors.Join(err, control)
	}
}

// A reserved port is given to nobody who asks for any port: not before a server listens there, not
// while it does, and not after it has ended.
func TestReservedPort(t *testing.T) {
	ports, err := process.ReservePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	port := ports.Numbers()[0]
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ask := func(when string, wants ...error) {
		t.Helper()
		listener, err := (&net.ListenConfig{Control: from(port)}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
		if err == nil {
			err = listener.Close()
		}
		if errors.Is(err, unix.ENOPROTOOPT) { // before Linux 6.3 nobody can choose from so few ports
			return
		}
		if !errors.Is(err, wants[0]) {
			t.Errorf("%s: Listen returned %v", when, err)
		}
		conn, err := (&net.Dialer{Control: from(port)}).DialContext(t.Context(), "tcp4", other.Addr().String())
		if err == nil {
			err = errors.Join(conn.(*net.TCPConn).SetLinger(0), conn.Close())
		}
		if !errors.Is(err, wants[1]) {
			t.Errorf("%s: Dial returned %v", when, err)
		}
	}
	ask("reserved", unix.EADDRINUSE, unix.EADDRNOTAVAIL)
	server, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		t.Fatal(err)
	}
	ask("in use", unix.EADDRINUSE, unix.EADDRNOTAVAIL)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	ask("used before", unix.EADDRINUSE, unix.EADDRNOTAVAIL)
	if err := ports.Release(); err != nil {
		t.Fatal(err)
	}
	ask("released", nil, nil)
}
