package ui

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// policy is the content security policy of the page. It permits only the page's own files, no inline
// code, and no conversion of text to HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard refuses requests that do not come from the page, or from a user who opens it.
type guard struct {
	next   http.Handler
	scheme string            // "http" or "https"
	hosts  []string          // the valid values of the Host header
	cert   *x509.Certificate // its host names are valid, too; nil without TLS
}

// ServeHTTP sets the security headers, and passes on the requests that are permitted.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
	if g.scheme == "https" {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if err := g.check(r); err != nil {
		fail(w, err)
		return
	}
	g.next.ServeHTTP(w, r)
}

// check returns an error if a request must be refused.
func (g *guard) check(r *http.Request) error {
	if !g.isOurs(r.Host) {
		// Another site could let its host name resolve to this address, and then read this page.
		return refuse(http.StatusMisdirectedRequest, "The host name of this server is not %q.", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != g.scheme+"://"+r.Host {
		return refuse(http.StatusForbidden, "Another site made this request.")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if r.Header.Get("Origin") == "" {
			return refuse(http.StatusForbidden, "The request has no Origin.")
		}
		if r.Header.Get("Content-Type") != "application/json" {
			return refuse(http.StatusUnsupportedMediaType, "The request is not JSON.")
		}
	}
	return checkFetch(r)
}

// checkFetch refuses requests of other sites, by the headers that browsers add. Other sites may have a
// link to the page, because the page itself contains no data.
func checkFetch(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "", site == "same-origin":
		return nil
	case strings.HasPrefix(r.URL.Path, "/api/"):
	case site == "none", r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
		return nil
	}
	return refuse(http.StatusForbidden, "Another site made this request.")
}

// isOurs reports whether a Host header names this server.
func (g *guard) isOurs(host string) bool {
	if slices.Contains(g.hosts, host) {
		return true
	}
	if g.cert == nil {
		return false
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return name != "" && g.cert.VerifyHostname(name) == nil
}

// hostsOf returns the valid values of the Host header for a server at an address.
func hostsOf(address, scheme string) []string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return []string{address}
	}
	names := []string{host}
	switch ip := net.ParseIP(host); {
	case ip.IsUnspecified():
		names = nil // no browser can connect to this address
	case ip.IsLoopback():
		names = append(names, "localhost", "127.0.0.1", "::1")
	}
	var hosts []string
	for _, name := range names {
		hosts = append(hosts, net.JoinHostPort(name, port))
		if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
			hosts = append(hosts, strings.TrimSuffix(net.JoinHostPort(name, port), ":"+port))
		}
	}
	return hosts
}

const (
	maxStrangers   = 256 // the maximum number of connections without a login
	maxFromAddress = 64  // of them from one address
	maxSignedIn    = 256 // the maximum number of connections with a login
)

// limited limits the number of open connections. Everybody can open connections without a login, so a
// further one closes an older one of them instead of being refused: who keeps connections open keeps
// nobody out. Only these are counted by address, because all users may have the address of a proxy.
type limited struct {
	net.Listener

	mu        sync.Mutex
	strangers []*counted // the connections without a login, the oldest first
	signedIn  int        // the number of connections with a login
}

// Accept returns the next connection.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &counted{Conn: conn, listener: l, address: groupOf(conn.RemoteAddr().String())}
	if old := l.add(c); old != nil {
		_ = old.Close()
	}
	return c, nil
}

// add adds a connection without a login. It returns the connection that must be closed for it, nil for
// none: the oldest at the same address if they are too many, otherwise the oldest of all.
func (l *limited) add(c *counted) (old *counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	for _, other := range l.strangers {
		if other.address == c.address {
			if same++; old == nil {
				old = other
			}
		}
	}
	switch {
	case same >= maxFromAddress:
	case len(l.strangers) >= maxStrangers:
		old = l.strangers[0]
	default:
		old = nil
	}
	l.remove(old)
	l.strangers = append(l.strangers, c)
	return old
}

// remove removes a connection from those without a login. It reports whether it was there.
func (l *limited) remove(c *counted) bool {
	i := slices.Index(l.strangers, c)
	if i >= 0 {
		l.strangers = slices.Delete(l.strangers, i, i+1)
	}
	return i >= 0
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	listener *limited
	address  string
	signedIn bool // guarded by listener.mu
}

// Close closes the connection.
func (c *counted) Close() error {
	c.drop()
	return c.Conn.Close()
}

func (c *counted) drop() {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(c)
	if c.signedIn {
		c.signedIn = false
		l.signedIn--
	}
}

// setSignedIn counts the connection as one with a login, unless there are too many of them. It does nothing
// if the connection was closed.
func (c *counted) setSignedIn() {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.signedIn && l.signedIn < maxSignedIn && l.remove(c) {
		c.signedIn = true
		l.signedIn++
	}
}

// connectionKey is the key of the *counted in the context of a request.
type connectionKey struct{}

// withConnection returns a context for the requests of a connection.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// countSignedIn counts the connection of a request as one with a login.
func countSignedIn(ctx context.Context) {
	if c, ok := ctx.Value(connectionKey{}).(*counted); ok {
		c.setSignedIn()
	}
}

// groupOf returns the address, without the port, by which a client at host:port is counted. For IPv6 that
// is its network of 64 bits, because a client may use all addresses of it.
func groupOf(address string) string {
	from, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := from.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return network.String()
}
