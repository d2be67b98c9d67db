package curatortest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkIdleSessions measures the memory of a server's process with 10,000 idle sessions over TCP.
// The process runs the test's own program.
func BenchmarkIdleSessions(b *testing.B) {
	const asked, clients = "CURATORTEST_SERVE_IDLE_SESSIONS", 10_000
	if os.Getenv(asked) != "" {
		fmt.Println("address", curatortest.Start(b).ConnectString())
		io.Copy(io.Discard, os.Stdin)
		return
	}
	before, after := int64(0), int64(0)
	for b.Loop() {
		program := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^"+b.Name()+"$", "-test.benchtime=1x")
		program.Env = append(os.Environ(), asked+"=1")
		stop, err := program.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := program.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := program.Start(); err != nil {
			b.Fatal(err)
		}
		address := readAddress(b, out)
		before = residentKiB(b, program.Process.Pid)
		conns := make([]net.Conn, clients)
		for i := range conns {
			if conns[i], err = net.Dial("tcp", address); err != nil {
				b.Fatal(err)
			}
			if _, err := rawclient.Connect(conns[i], jute.ConnectRequest{TimeOut: 40000}); err != nil {
				b.Fatal(err)
			}
		}
		after = residentKiB(b, program.Process.Pid)
		for _, conn := range conns {
			conn.Close()
		}
		stop.Close()
		io.Copy(io.Discard, out)
		if err := program.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(after)/1024, "MiB")
	b.ReportMetric(float64(before)/1024, "MiB-before")
}

// readAddress returns the address that a server's program prints.
func readAddress(b *testing.B, out io.Reader) string {
	b.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "address "); ok {
			return address
		}
	}
	b.Fatalf("no address: %v", lines.Err())
	return ""
}

// residentKiB returns the resident memory of a process.
func residentKiB(b *testing.B, pid int) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	n, err := strconv.ParseInt(strings.TrimSpace(string(line)), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
