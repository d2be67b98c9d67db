package ui_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
	"github.com/go-curator/curator/tools/curatortest"
)

// virtualAddress is the address of the page in virtual time.
const virtualAddress = "127.0.0.1:8181"

// network is a net.Listener without sockets, for clients with any address.
type network struct {
	incoming chan net.Conn
	closed   chan struct{}
	close    func()
}

func newNetwork() *network {
	closed := make(chan struct{})
	return &network{make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) })}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.incoming:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.close()
	return nil
}

func (n *network) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(virtualAddress))
}

// dial connects from an IP address.
func (n *network) dial(from string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case n.incoming <- remote{far, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 40000))}:
		return near, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// remote is a connection from an address.
type remote struct {
	net.Conn
	from net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.from }

// page is the page in virtual time.
type page struct {
	t       *testing.T
	network *network
	tls     *tls.Config // of clients; nil without TLS
	scheme  string
	http2   bool // browsers use HTTP/2
}

// inVirtualTime runs test with a page in virtual time, without TLS, with it, and with HTTP/2.
func inVirtualTime(t *testing.T, test func(t *testing.T, p *page)) {
	example := httptest.NewTLSServer(nil) // outside of virtual time, for its certificate
	pair, roots := example.TLS.Certificates[0], example.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	example.Close()
	for _, name := range []string{"http", "https", "http2"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &page{t: t, network: newNetwork(), scheme: "http", http2: name == "http2"}
				server := curatortest.Start(t, curatortest.Virtual())
				cfg := ui.Config{
					Config: follow.Config{Client: server.Client(t), Root: "/"}, Secret: secret, Log: t.Logf,
				}
				if name != "http" {
					cfg.TLS, p.tls, p.scheme = &pair, &tls.Config{RootCAs: roots}, "https"
				}
				s, err := ui.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- s.Serve(ctx, p.network) }()
				test(t, p)
				cancel()
				if err := <-served; err != nil {
					t.Errorf("the server of the page: %v", err)
				}
			})
		})
	}
}

// silent connects from an IP address, and sends nothing.
func (p *page) silent(from string) net.Conn {
	p.t.Helper()
	conn, err := p.network.dial(from)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	return conn
}

// connect connects from an IP address. The handshake of TLS is a part of the first request.
func (p *page) connect(from string) net.Conn {
	p.t.Helper()
	conn := p.silent(from)
	if p.tls == nil {
		return conn
	}
	config := p.tls.Clone()
	config.ServerName = "127.0.0.1"
	return tls.Client(conn, config)
}

// begin connects from an IP address and sends the beginning of a request, after which nothing follows.
// closed is closed when the server has closed the connection.
func (p *page) begin(from, request string) (closed <-chan struct{}) {
	p.t.Helper()
	conn, ended := p.connect(from), make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := io.WriteString(conn, request); err == nil {
			_, _ = io.Copy(io.Discard, conn)
		}
	}()
	return ended
}

// slowLogin is a request to sign in whose body does not end.
const slowLogin = "POST /api/login HTTP/1.1\r\nHost: " + virtualAddress + "\r\nOrigin: SCHEME://" + virtualAddress +
	"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"

func (p *page) slowLogin() string { return strings.Replace(slowLogin, "SCHEME", p.scheme, 1) }

// visitor is a browser at an address, with one connection at a time.
type visitor struct {
	p      *page
	client *http.Client
	cookie string
}

func (p *page) visitor(from string) *visitor {
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return p.network.dial(from) }}
	if p.tls != nil {
		transport.TLSClientConfig, transport.ForceAttemptHTTP2 = p.tls.Clone(), p.http2
	}
	p.t.Cleanup(transport.CloseIdleConnections)
	return &visitor{p: p, client: &http.Client{Transport: transport}}
}

// ask makes a request. The caller must close the body of the response.
func (v *visitor) ask(ctx context.Context, method, path, body string) (*http.Response, error) {
	origin := v.p.scheme + "://" + virtualAddress
	request, err := http.NewRequestWithContext(ctx, method, origin+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Cookie", v.cookie)
	if method == http.MethodPost {
		request.Header.Set("Origin", origin)
		request.Header.Set("Content-Type", "application/json")
	}
	return v.client.Do(request)
}

// status returns the status of the response to a request, which must come within a second.
func (v *visitor) status(method, path, body string) int {
	v.p.t.Helper()
	ctx, cancel := context.WithTimeout(v.p.t.Context(), time.Second)
	defer cancel()
	r, err := v.ask(ctx, method, path, body)
	if err != nil {
		v.p.t.Errorf("%s: %v", path, err)
		return 0
	}
	if (r.ProtoMajor == 2) != v.p.http2 {
		v.p.t.Errorf("%s: the response is of %s", path, r.Proto)
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		v.p.t.Errorf("%s: %v", path, err)
	}
	for _, c := range r.Cookies() {
		v.cookie = c.Name + "=" + c.Value
	}
	return r.StatusCode
}

// signIn signs in, and uses the page.
func (v *visitor) signIn() {
	v.p.t.Helper()
	if got := v.status("POST", "/api/login", `{"secret": "`+secret+`"}`); got != http.StatusOK {
		v.p.t.Errorf("sign in: %d", got)
	}
	if got := v.status("GET", "/api/search?text=x", ""); got != http.StatusOK {
		v.p.t.Errorf("search: %d", got)
	}
}

// stream opens a stream. heard is called for each event; ended is closed at the end of the stream.
func (v *visitor) stream(heard func(now int64)) (ended <-chan struct{}) {
	v.p.t.Helper()
	r, err := v.ask(v.p.t.Context(), "GET", "/api/events", "")
	if err != nil || r.StatusCode != http.StatusOK {
		v.p.t.Fatalf("stream: %+v, %v", r, err)
	}
	v.p.t.Cleanup(func() { r.Body.Close() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(r.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var message struct{ Now int64 }
			if body, found := strings.CutPrefix(lines.Text(), "data: "); found && json.Unmarshal([]byte(body), &message) == nil {
				heard(message.Now)
			}
		}
	}()
	return done
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
