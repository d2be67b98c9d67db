package process_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/go-curator/curator/internal/process"
)

func TestReservePorts(t *testing.T) {
	ports, err := process.ReservePorts(3)
	if err != nil || len(ports.Numbers()) != 3 {
		t.Fatalf("%v, %v", ports, err)
	}
	var listeners []net.Listener
	for _, port := range ports.Numbers() { // all three at once, so that they differ
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener)
	}
	for _, listener := range listeners {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := ports.Release(); err != nil {
			t.Error(err)
		}
	}
}
