package curatortest_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkStart measures the start of a server until a client has a session, and its stop.
func BenchmarkStart(b *testing.B) {
	for name, opts := range map[string][]curatortest.Option{"TCP": nil, "Virtual": {curatortest.Virtual()}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := curatortest.New(opts...)
				if err != nil {
					b.Fatal(err)
				}
				conn, err := s.DialContext(b.Context(), "tcp", s.ConnectString())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10000}); err != nil {
					b.Fatal(err)
				}
				conn.Close()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWrite measures setData with 100 bytes over TCP, on the embedded server and on a real server
// with production settings: the latency of one client that waits for each answer, and the throughput
// of eight clients that pipeline up to 64 requests.
func BenchmarkWrite(b *testing.B) {
	for _, backend := range []struct {
		name    string
		address func(b *testing.B) string
	}{
		{"embedded", func(b *testing.B) string { return curatortest.Start(b).ConnectString() }},
		{"real", func(b *testing.B) string {
			return curatortest.Real(b, curatortest.WithProductionSettings()).Member(0).Address()
		}},
	} {
		b.Run(backend.name, func(b *testing.B) {
			address := backend.address(b)
			b.Run("latency", func(b *testing.B) { benchmarkLatency(b, address) })
			b.Run("throughput", func(b *testing.B) { benchmarkThroughput(b, address) })
		})
	}
}

// writer returns a client with its own node, and the request that writes to that node.
func writer(b *testing.B, address string) (*rawclient.Client, *jute.SetDataRequest) {
	b.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	c, err := rawclient.Connect(newBuffered(conn), jute.ConnectRequest{TimeOut: 10000})
	if err != nil {
		b.Fatal(err)
	}
	path := "/bench-" + strconv.FormatInt(c.Session.SessionID, 16)
	if f, err := c.Do(jute.OpCreate, create(path, jute.FlagEphemeral)); err != nil || f.Err != jute.CodeOK {
		b.Fatal(err, f.Err)
	}
	return c, &jute.SetDataRequest{Path: path, Data: make([]byte, 100), Version: -1}
}

// buffered buffers reads and writes, as fast clients do, so that a frame is not a system call.
type buffered struct {
	net.Conn
	r     *bufio.Reader
	w     *bufio.Writer
	piped bool // writes are sent only by a flush
}

func newBuffered(conn net.Conn) *buffered {
	return &buffered{Conn: conn, r: bufio.NewReader(conn), w: bufio.NewWriter(conn)}
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

func (b *buffered) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	if err == nil && !b.piped {
		err = b.w.Flush()
	}
	return n, err
}

func benchmarkLatency(b *testing.B, address string) {
	c, request := writer(b, address)
	for b.Loop() {
		if f, err := c.Do(jute.OpSetData, request); err != nil || f.Err != jute.CodeOK {
			b.Fatal(err, f.Err)
		}
	}
}

func benchmarkThroughput(b *testing.B, address string) {
	const clients, window = 8, 64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range clients {
		c, request := writer(b, address)
		writes := b.N / clients
		if i < b.N%clients {
			writes++
		}
		wg.Go(func() {
			<-start
			if err := pipeline(c, request, writes, window); err != nil {
				b.Error(err)
			}
		})
	}
	b.ResetTimer()
	close(start)
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// pipeline does a number of writes, with up to window of them on their way.
func pipeline(c *rawclient.Client, request *jute.SetDataRequest, writes, window int) error {
	room := make(chan struct{}, window)
	sent := make(chan error, 1)
	go func() { sent <- sendAll(c, request, writes, room) }()
	for range writes {
		f, err := c.Receive()
		if err == nil && f.Err != jute.CodeOK {
			err = fmt.Errorf("code %d", f.Err)
		}
		<-room
		if err != nil {
			c.Conn.Close() // the sender fails, too
			return errors.Join(err, <-sent)
		}
	}
	return <-sent
}

// sendAll sends requests while room is not full, and flushes them when it is.
func sendAll(c *rawclient.Client, request *jute.SetDataRequest, writes int, room chan struct{}) error {
	conn := c.Conn.(*buffered)
	conn.piped = true
	for range writes {
		select {
		case room <- struct{}{}:
		default:
			if err := conn.w.Flush(); err != nil {
				return err
			}
			room <- struct{}{}
		}
		if _, err := c.Send(jute.OpSetData, request); err != nil {
			return err
		}
	}
	return conn.w.Flush()
}
