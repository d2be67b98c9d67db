package process_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/process"
)

// asked names the environment variable that makes the test's own program one to be started.
const asked = "PROCESS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asked) {
	case "":
		process.ResetSignals()
		goleak.VerifyTestMain(m)
	case "ends":
		os.Exit(3)
	case "deaf":
		signal.Ignore(os.Interrupt)
		fallthrough
	default:
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
	}
}

// start starts the test's own program and waits until it is ready.
func start(t *testing.T, program string) (*process.Process, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asked+"="+program)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	p, err := process.Start(cmd)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return p, in
}

func TestStopAsks(t *testing.T) {
	p, _ := start(t, "listens")
	p.Stop(os.Interrupt, time.Minute)
	if err := p.Wait(); err == nil || err.Error() != "signal: interrupt" {
		t.Errorf("ended: %v", err)
	}
	p.Stop(os.Interrupt, time.Minute) // it has ended: that is no matter
}

func TestStopKillsTheDeaf(t *testing.T) {
	p, _ := start(t, "deaf")
	p.Stop(os.Interrupt, 50*time.Millisecond)
	if err := p.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("ended: %v", err)
	}
}

func TestWaitOrKill(t *testing.T) {
	p, in := start(t, "listens")
	in.Close()
	if !p.WaitOrKill(time.Minute) {
		t.Error("killed, although it ends with its input")
	}
	if err := p.Wait(); err != nil {
		t.Errorf("ended: %v", err)
	}
	if p, _ := start(t, "listens"); p.WaitOrKill(0) {
		t.Error("ended by itself, although nobody has asked it to")
	}
}

func TestHowItEnded(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asked+"=ends")
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	if err := p.Wait(); err == nil || err.Error() != "exit status 3" {
		t.Errorf("ended: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	if _, err := process.Start(exec.Command(t.TempDir() + "/absent")); !os.IsNotExist(err) {
		t.Errorf("started: %v", err)
	}
}

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
