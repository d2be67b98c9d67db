//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// browser sends requests to the page's server as a browser does.
type browser struct {
	t      *testing.T
	client *http.Client
	origin string
	cookie string
}

// newBrowser signs in to the page at origin.
func newBrowser(t *testing.T, client *http.Client, origin, secret string) *browser {
	t.Helper()
	b := &browser{t: t, client: client, origin: origin}
	body, err := json.Marshal(map[string]string{"secret": secret})
	if err != nil {
		t.Fatal(err)
	}
	r := b.send("POST", "/api/login", "", body)
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK || len(r.Cookies()) != 1 {
		t.Fatalf("sign in: %s", r.Status)
	}
	b.cookie = r.Cookies()[0].String()
	t.Cleanup(client.CloseIdleConnections)
	return b
}

// send makes a request. The caller must close the body of the response. If host is not "", it
// replaces that of the page.
func (b *browser) send(method, path, host string, body []byte) *http.Response {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.origin+path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Origin", b.origin)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Cookie", strings.Split(b.cookie, ";")[0])
	request.Host = host
	r, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// untilEvent reads a stream until a line contains the text.
func (b *browser) untilEvent(stream *http.Response, text string) {
	b.t.Helper()
	timer := time.AfterFunc(patience, func() { stream.Body.Close() })
	defer timer.Stop()
	lines := bufio.NewReader(stream.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.t.Fatalf("%q has not come: %v", text, err)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// The page is served at the printed address until a signal, which ends the command although browsers
// are connected.
func TestUI(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		s.create("/locks/java/lock-0000000001", "10.1.2.3")
		p := start(t, "ui", "--connect", s.connect, "--listen", "127.0.0.1:0", "--admin-port", "0", "/locks")
		suite.Eventually(t, "the address", func() bool { return strings.HasSuffix(p.out.String(), "\n") })
		origin, secret, found := strings.Cut(strings.TrimSpace(p.out.String()), "/#secret=")
		if !found || len(secret) < 32 || !strings.HasPrefix(origin, "http://127.0.0.1:") {
			t.Fatalf("stdout %q", &p.out)
		}
		b := newBrowser(t, &http.Client{}, origin, secret)
		stream := b.send("GET", "/api/events", "", nil)
		defer stream.Body.Close()
		b.untilEvent(stream, `"path":"/locks/java"`)
		b.untilEvent(stream, `"mode":"standalone"`)
		r := b.send("POST", "/api/act", "", []byte(`{"action":"delete","path":"/locks/java/lock-0000000001","token":"1","who":"me"}`))
		defer r.Body.Close()
		if r.StatusCode != http.StatusForbidden {
			t.Errorf("an action: %s", r.Status)
		}
		p.signal(syscall.SIGINT)
		p.wantExit(0)
	})
}

// curator demo --ui shows the demonstration on the page, with actions.
func TestDemoUI(t *testing.T) {
	t.Parallel()
	p := start(t, "demo", "--ui", "--speed", "5")
	suite.Eventually(t, "the address", func() bool { return strings.HasSuffix(p.out.String(), "\n") })
	origin, secret, _ := strings.Cut(strings.TrimSpace(p.out.String()), "/#secret=")
	b := newBrowser(t, &http.Client{}, origin, secret)
	stream := b.send("GET", "/api/events", "", nil)
	defer stream.Body.Close()
	b.untilEvent(stream, `"actions":true`)
	b.untilEvent(stream, `"path":"/leaders/scheduler"`)
	p.signal(syscall.SIGINT)
	p.wantExit(130)
}

// With TLS the page may be served on an address that is not loopback. Its host names are those of the
// certificate.
func TestUIWithTLS(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	example := httptest.NewTLSServer(nil)
	defer example.Close()
	pair := example.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "a secret of a file, long enough"
	cert := pemFile(t, "cert.pem", "CERTIFICATE", pair.Certificate...)
	flags := []string{
		"--listen-cert", cert, "--listen-key", pemFile(t, "key.pem", "PRIVATE KEY", key),
		"--secret-file", writeFile(t, "secret", secret+"\n", 0o600),
	}
	args := append([]string{"ui", "--connect", s.connect, "--listen", "0.0.0.0:0", "--allow-actions"}, flags...)
	p := start(t, args...)
	suite.Eventually(t, "the address", func() bool { return strings.HasSuffix(p.out.String(), "\n") })
	_, port, found := strings.Cut(strings.TrimSuffix(p.out.String(), "/\n"), "https://0.0.0.0:")
	if found = found || strings.Contains(p.out.String(), "https://[::]:"); !found || strings.Contains(p.out.String(), "secret") {
		t.Fatalf("stdout %q", &p.out)
	}
	if port == "" {
		_, port, _ = strings.Cut(strings.TrimSuffix(p.out.String(), "/\n"), "]:")
	}
	roots := x509.NewCertPool()
	roots.AddCert(example.Certificate())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	b := newBrowser(t, client, "https://127.0.0.1:"+port, secret)
	if !strings.HasPrefix(b.cookie, "__Host-") || !strings.Contains(b.cookie, "Secure") || !strings.Contains(b.cookie, "HttpOnly") || !strings.Contains(b.cookie, "SameSite=Strict") {
		t.Errorf("cookie %q", b.cookie)
	}
	for host, want := range map[string]int{"": 200, "evil.test:" + port: 421, "0.0.0.0:" + port: 421} {
		r := b.send("GET", "/api/search?text=x", host, nil)
		if r.Body.Close(); r.StatusCode != want {
			t.Errorf("host %q: %s", host, r.Status)
		}
	}
	s.create("/config/app", "old")
	var stat framework.Stat
	if _, err := s.client.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), "/config/app"); err != nil {
		t.Fatal(err)
	}
	r := b.send("POST", "/api/act", "", []byte(`{"action":"delete","path":"/config/app","token":"`+sessionToken(stat)+`","who":"ann"}`))
	text, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("delete: %s %s %v", r.Status, text, err)
	}
	p.untilErr(`delete of /config/app, token ` + sessionToken(stat) + `, requested by "ann" in browser 1 at 127.0.0.1:`)
	p.signal(syscall.SIGTERM)
	p.wantExit(0, ": done")
}

func sessionToken(s framework.Stat) string {
	return strconv.FormatInt(s.Czxid, 10)
}

// Mistakes in the flags are errors before the page is served.
func TestUIRefuses(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	taken := talker(t, "")
	for name, tt := range map[string]struct {
		code int
		text string
		args []string
	}{
		"other machines":          {64, "can be reached from other machines: it needs --listen-cert, --listen-key and --secret-file", []string{"--listen", "0.0.0.0:0"}},
		"other machines, no TLS":  {64, "can be reached from other machines", []string{"--listen", "0.0.0.0:0", "--secret-file", writeFile(t, "long", "0123456789abcdef", 0o600)}},
		"a short secret":          {64, "at least 16 characters", []string{"--secret-file", writeFile(t, "short", "0123456789", 0o600)}},
		"a secret for everybody":  {64, "chmod 600", []string{"--secret-file", writeFile(t, "public", "0123456789abcdef", 0o644)}},
		"a certificate alone":     {64, "--listen-cert and --listen-key must be given together", []string{"--listen-cert", "/dev/null"}},
		"actions that only read":  {64, "--allow-actions and --read-only cannot be used together", []string{"--allow-actions", "--read-only"}},
		"an address that is none": {64, "is not host:port", []string{"--listen", "8181"}},
		"an address that is used": {69, "the address is in use", []string{"--listen", taken}},
		"a path that is none":     {64, "invalid path", []string{"--listen", "127.0.0.1:0", "locks"}},
		"no ensemble":             {69, "nothing listens at", []string{"--listen", "127.0.0.1:0", "--connect", freeAddress(t)}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runHere(t, []string{"CURATOR_CONNECT=" + s.connect}, append([]string{"ui"}, tt.args...)...)
			if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.text) {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}
