package framework_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// These are the messages of the two lines.
const (
	unreachable = "zookeeper: the ensemble cannot be reached"
	reachable   = "zookeeper: the ensemble can be reached again"
)

// lines is a slog.Handler that keeps what is logged at Info and above.
type lines struct {
	mu  sync.Mutex
	all []line
}

// line is one record, with its attributes in its text.
type line struct {
	at    time.Time
	level slog.Level
	text  string
}

func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line{time.Now(), r.Level, text})
	return nil
}

func (l *lines) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *lines) WithGroup(string) slog.Handler      { return l }

// with returns the lines with a message, since the last time, and forgets the others.
func (l *lines) with(message string) (found []line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.HasPrefix(line.text, message) {
			found = append(found, line)
		}
	}
	l.all = nil
	return found
}

// A server that says nothing and closes is one that is not serving, or ZooKeeper's port for
// TLS: ZooKeeper 3.8 closes both without a word, so that one reason has to name both.
const (
	closedWithoutAnswer = "not serving"
	orTLS               = "TLS"
)

// oddities are servers that are no good, by what they do with a connection.
var oddities = map[string]struct {
	serve  func(conn net.Conn) // nil for one that cannot be connected to
	tls    bool                // the client uses TLS
	reason []string            // in the line and in the error
}{
	"no route":          {nil, false, []string{"no route"}},
	"silence":           {swallow, false, []string{"does not answer"}},
	"HTTP":              {speakHTTP, false, []string{"speaks HTTP"}},
	"TLS, an alert":     {speakAlert, false, []string{"speaks TLS"}},
	"TLS, as ZooKeeper": {speakTLS, false, []string{closedWithoutAnswer, orTLS}},
	"not serving":       {hangUp, false, []string{closedWithoutAnswer, orTLS}},
	"closes at once":    {func(net.Conn) {}, false, []string{closedWithoutAnswer, orTLS}},
	"noise":             {speakNoise, false, []string{"this does not answer as ZooKeeper does"}},
	"no TLS":            {speakZooKeeper, true, []string{"does not speak TLS"}},
	"no TLS, HTTP":      {speakHTTP, true, []string{"does not speak TLS", "HTTP"}},
	"no TLS, silence":   {swallow, true, []string{"does not answer", "TLS"}},
}

// missing returns the words of want that text does not have.
func missing(text string, want []string) (words []string) {
	for _, word := range want {
		if !strings.Contains(text, word) {
			words = append(words, word)
		}
	}
	return words
}

// swallow reads, and never answers.
func swallow(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// speakHTTP answers as a web server does.
func speakHTTP(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 64<<10))
	_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}

// speakAlert answers what is no TLS with an alert, as some TLS servers do.
func speakAlert(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 64<<10))
	_, _ = io.WriteString(conn, "\x15\x03\x01\x00\x02\x02\x46")
}

// speakTLS closes on what is no TLS, as Go's servers and ZooKeeper's secureClientPort do.
func speakTLS(conn net.Conn) { _ = tls.Server(conn, &tls.Config{}).Handshake() }

// speakZooKeeper does what ZooKeeper does with a frame that is far too long, which the
// beginning of a TLS handshake is for it: it says nothing and closes.
func speakZooKeeper(conn net.Conn) { _, _ = conn.Read(make([]byte, 64<<10)) }

// hangUp reads the connect request, says nothing and closes, as a ZooKeeper without a quorum.
func hangUp(conn net.Conn) { _, _ = conn.Read(make([]byte, 1024)) }

// speakNoise answers with a frame that is no answer.
func speakNoise(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 1024))
	_, _ = io.WriteString(conn, "\x00\x00\x00\x24"+strings.Repeat("\xff", 36))
}

// oddNetwork is a network whose servers are odd, until it is healed.
type oddNetwork struct {
	server  *curatortest.Server
	serve   func(address string) func(conn net.Conn)
	running sync.WaitGroup

	mu     sync.Mutex
	healed bool
	ends   []net.Conn
}

func (n *oddNetwork) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.healed {
		return n.server.DialContext(ctx, network, address)
	}
	serve := n.serve(address)
	if serve == nil {
		return nil, errors.New("no route")
	}
	ours, theirs := net.Pipe()
	n.ends = append(n.ends, theirs)
	n.running.Go(func() {
		serve(theirs)
		theirs.Close()
	})
	return asTCP{ours}, nil
}

// asTCP is the end of a net.Pipe whose errors are those of TCP.
type asTCP struct{ net.Conn }

func (c asTCP) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, resetIfClosed(err)
}

func (c asTCP) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, resetIfClosed(err)
}

func resetIfClosed(err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return err
}

// heal makes every server a good one.
func (n *oddNetwork) heal() {
	n.mu.Lock()
	n.healed = true
	for _, end := range n.ends {
		end.Close()
	}
	n.mu.Unlock()
	n.running.Wait()
}

func unreachableClient(t *testing.T, n *oddNetwork, connect string, log *lines, opts ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(connect, retry.None(), append(opts, framework.WithDialer(n.dial),
		framework.WithLogger(slog.New(log)), framework.WithSessionTimeout(10*time.Second))...)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return client
}

// TestUnreachableReasons has servers that are no good in each their own way.
func TestUnreachableReasons(t *testing.T) {
	for name, odd := range oddities {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &oddNetwork{serve: func(string) func(net.Conn) { return odd.serve }}
				var log lines
				var opts []framework.Option
				if odd.tls {
					opts = append(opts, framework.WithTLS(&tls.Config{}))
				}
				client := unreachableClient(t, n, "a.example.org:2181", &log, opts...)
				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
				defer cancel()
				err := client.BlockUntilConnected(ctx)
				want := append([]string{"a.example.org:2181"}, odd.reason...)
				if words := missing(fmt.Sprint(err), want); !errors.Is(err, context.DeadlineExceeded) || len(words) > 0 {
					t.Errorf("BlockUntilConnected: %v; it lacks %q", err, words)
				}
				found := log.with(unreachable)
				if len(found) == 0 {
					found = append(found, line{})
				}
				last := found[len(found)-1]
				if words := missing(last.text, want); last.level != slog.LevelWarn || len(words) > 0 {
					t.Errorf("logged %q at level %v; it lacks %q", last.text, last.level, words)
				}
				if err := client.Close(t.Context()); err != nil {
					t.Error(err)
				}
				n.heal()
			})
		})
	}
}

// TestUnreachableIsLogged has three servers that cannot be reached for minutes, at the start
// and later, each for a reason of its own: there is one line at most every 10 s, which names
// the servers and the last reason, and one when that is over.
func TestUnreachableIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		n := &oddNetwork{server: server, serve: func(address string) func(net.Conn) {
			switch address {
			case "a:1":
				return speakHTTP
			case "b:1":
				return hangUp
			}
			return nil
		}}
		var log lines
		client := unreachableClient(t, n, "a:1,b:1,c:1", &log)
		time.Sleep(2 * time.Minute)
		wantLines(t, &log, "at the start", 2*time.Minute)

		n.heal()
		wantOver(t, client, &log)
		time.Sleep(5 * time.Minute)
		if found := append(log.with(unreachable), log.with(reachable)...); len(found) > 0 {
			t.Errorf("logged %v while the connection worked", found)
		}

		n.mu.Lock()
		n.healed = false
		n.mu.Unlock()
		server.Disconnect()
		time.Sleep(2 * time.Minute)
		wantLines(t, &log, "after a connection", 2*time.Minute)
		n.heal()
		wantOver(t, client, &log)

		server.Disconnect() // a reconnect that takes no time is worth no line
		time.Sleep(time.Minute)
		if found := append(log.with(unreachable), log.with(reachable)...); len(found) > 0 {
			t.Errorf("logged %v for a reconnect", found)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A server that says that a session has expired was reached.
func TestExpiredSessionIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		var log lines
		client := server.Client(t, framework.WithLogger(slog.New(&log)))
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.ExpireSession(client.SessionID())
		time.Sleep(time.Minute)
		if found := log.with("zookeeper: the ensemble"); len(found) > 0 {
			t.Errorf("logged %v for an expired session", found)
		}
		if client.ConnectionState() != state.Reconnected {
			t.Errorf("the state is %v", client.ConnectionState())
		}
	})
}

// wantLines checks the warnings of the time d that has passed.
func wantLines(t *testing.T, log *lines, when string, d time.Duration) {
	t.Helper()
	found := log.with(unreachable)
	if n := int(d / (10 * time.Second)); len(found) < n-2 || len(found) > n+1 {
		t.Errorf("%s: %d lines in %v, want about %d", when, len(found), d, n)
	}
	for i, line := range found {
		if line.level != slog.LevelWarn {
			t.Errorf("%s: the level of %q is %v", when, line.text, line.level)
		}
		if i > 0 && line.at.Sub(found[i-1].at) < 10*time.Second {
			t.Errorf("%s: two lines within %v", when, line.at.Sub(found[i-1].at))
		}
		for _, want := range []string{"a:1", "b:1", "c:1"} {
			if !strings.Contains(line.text, want) {
				t.Errorf("%s: %q does not name %s", when, line.text, want)
			}
		}
		reasons := 0
		for _, reason := range []string{"HTTP", "not serving", "no route"} {
			reasons += strings.Count(line.text, reason)
		}
		if reasons == 0 {
			t.Errorf("%s: %q has no reason", when, line.text)
		}
	}
}

// wantOver waits until the client is connected and checks that one line says so.
func wantOver(t *testing.T, client *framework.Client, log *lines) {
	t.Helper()
	if err := client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	found := log.with(reachable)
	if len(found) != 1 || found[0].level != slog.LevelInfo {
		t.Errorf("when it was over it was logged %v, want one line", found)
	}
}

// That an attempt to connect ran into its own time limit is not the end of the caller's
// context, and passes.
func TestConnectingTakesLong(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t, framework.WithConnectionTimeout(suite.SessionTimeout/2))
		if err := c.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		heal := network.Isolate()
		network.Cut()
		time.AfterFunc(suite.SessionTimeout*3/2, heal)
		if _, err := c.CheckExists().ForPath(t.Context(), "/"); err != nil {
			t.Fatal(err)
		}
		heal = network.Isolate()
		network.Cut()
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		time.AfterFunc(suite.SessionTimeout, func() { cancel(why) })
		_, err := c.CheckExists().ForPath(ctx, "/")
		if !errors.Is(err, why) || !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || framework.Retryable(err) {
			t.Fatal(err)
		}
		heal()
	})
}
