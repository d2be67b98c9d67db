package ui

import (
	"crypto/x509"
	"net"
	"net/http"
	"slices"
	"strings"
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
