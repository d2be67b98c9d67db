package framework_test

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// noDeadlines is a connection of a user's dialer that lacks deadlines: its methods fail with err, or do nothing if err is
// nil.
type noDeadlines struct {
	net.Conn
	err error
}

func (c noDeadlines) SetDeadline(time.Time) error      { return c.err }
func (c noDeadlines) SetReadDeadline(time.Time) error  { return c.err }
func (c noDeadlines) SetWriteDeadline(time.Time) error { return c.err }

// dialedPipes dials servers that accept, and neither read nor answer.
type dialedPipes struct {
	mu   sync.Mutex
	ends []net.Conn
}

func (p *dialedPipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends = append(p.ends, theirs)
	return ours, nil
}

// close ends the connections, from the server's side.
func (p *dialedPipes) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, end := range p.ends {
		end.Close()
	}
}

// TestDialerWithoutDeadlines has a dialer whose connections do not support deadlines: to a
// server that works, which is used, and to one that neither reads nor answers, on which a client without
// deadlines would wait for ever. The error says so; Close is not held up; another server is found beside it.
func TestDialerWithoutDeadlines(t *testing.T) {
	const reason = "it accepts connections and does not answer" // in the error
	for name, lacking := range map[string]noDeadlines{
		"refuses":      {err: os.ErrNoDeadline},
		"does nothing": {},
	} {
		for _, working := range []bool{true, false} {
			for _, connect := range []string{"a:1", "a:1,b:1"} {
				title := name + ", the server is silent, " + connect
				if working {
					title = name + ", the server works, " + connect
				}
				t.Run(title, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						server := curatortest.Start(t, curatortest.Virtual())
						var silent dialedPipes
						var first string // the server whose connections lack deadlines
						dial := func(ctx context.Context, network, address string) (net.Conn, error) {
							if first == "" {
								first = address
							}
							if address != first {
								return server.DialContext(ctx, network, address)
							}
							conn := lacking
							var err error
							if working {
								conn.Conn, err = server.DialContext(ctx, network, address)
							} else {
								conn.Conn, err = silent.dial(ctx, network, address)
							}
							return conn, err
						}
						client, err := framework.NewClient(connect, retry.None(), framework.WithDialer(dial),
							framework.WithSessionTimeout(10*time.Second))
						if err != nil {
							t.Fatal(err)
						}
						if err := client.Start(t.Context()); err != nil {
							t.Fatal(err)
						}
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						err = client.BlockUntilConnected(ctx)
						switch {
						case (working || connect != "a:1") && err != nil:
							t.Errorf("BlockUntilConnected: %v", err)
						case !working && connect == "a:1" && (err == nil || !strings.Contains(err.Error(), reason)):
							t.Errorf("BlockUntilConnected: %v, want %q", err, reason)
						}
						begin, closed := time.Now(), make(chan struct{})
						go func() {
							defer close(closed)
							if err := client.Close(t.Context()); err != nil {
								t.Errorf("Close: %v", err)
							}
						}()
						select {
						case <-closed:
							if d := time.Since(begin); d > 5*time.Second {
								t.Errorf("Close took %v", d)
							}
						case <-time.After(time.Minute):
							t.Error("Close has not returned after a minute")
						}
						silent.close()
						<-closed
					})
				})
			}
		}
	}
}

// TestDialerWithTLS has a dialer that puts TLS on its connections by itself, and one that hides it: the first
// connection is used.
func TestDialerWithTLS(t *testing.T) {
	certificate, trust := certify(t, "zk.example.org")
	server := curatortest.Start(t)
	dial := secured(t, server.ConnectString(), &tls.Config{Certificates: []tls.Certificate{certificate}})
	for name, c := range map[string]struct {
		hide, lazy bool
	}{
		"seen":                           {false, false},
		"seen, shakes hands when used":   {false, true},
		"hidden":                         {true, false},
		"hidden, shakes hands when used": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			var dialed atomic.Int64
			client, err := framework.NewClient("zk.example.org:2281", retry.None(),
				framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
					dialed.Add(1)
					raw, err := dial(ctx, network, address)
					if err != nil {
						return nil, err
					}
					conn := tls.Client(raw, &tls.Config{RootCAs: trust, ServerName: "zk.example.org"})
					if !c.lazy {
						err = conn.HandshakeContext(ctx)
					}
					if c.hide {
						return struct{ net.Conn }{conn}, err
					}
					return conn, err
				}))
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := client.CheckExists().ForPath(ctx, "/"); err != nil || dialed.Load() != 1 {
				t.Errorf("error %v, with %d connections", err, dialed.Load())
			}
			if err := client.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
