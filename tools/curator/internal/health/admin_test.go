package health

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const adminAnswer = `{
  "version" : "3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC",
  "read_only" : false,
  "server_stats" : {
    "packets_sent" : 11, "min_latency" : 0, "avg_latency" : 1.25, "max_latency" : 17, "outstanding_requests" : 2,
    "server_state" : "follower", "last_processed_zxid" : 4294967298, "num_alive_client_connections" : 3
  },
  "node_count" : 5, "command" : "srvr", "error" : null
}`

func TestAdmin(t *testing.T) {
	want, err := parse(answer)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parseAdmin([]byte(adminAnswer)); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for text, want := range map[string]string{
		`{"error":"This ZooKeeper instance is not currently serving requests"}`: "has no quorum",
		`{"error":"authentication required"}`:                                   "authentication required",
		`<html>`:                                                                "not an AdminServer",
		`{"status":"green"}`:                                                    "not an AdminServer",
	} {
		if _, err := parseAdmin([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestEither asks servers whose port for clients does not answer, or with an error.
func TestEither(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/commands/srvr" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(adminAnswer))
	})
	byHTTP, byHTTPS := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer byHTTP.Close()
	defer byHTTPS.Close()
	byHTTPS.Config.ErrorLog = log.New(io.Discard, "", 0) // somebody speaks HTTP to it
	port := func(s *httptest.Server) int { return s.Listener.Addr().(*net.TCPAddr).Port }
	plain := Admin{port(byHTTP), func(ctx context.Context, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}}
	encrypted := Admin{port(byHTTPS), func(ctx context.Context, address string) (net.Conn, error) {
		roots := byHTTPS.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		return (&tls.Dialer{Config: &tls.Config{RootCAs: roots}}).DialContext(ctx, "tcp", address)
	}}
	const forbidden = "srvr is not executed because it is not in the whitelist."
	for name, c := range map[string]struct {
		says  string // the answer on the port for clients
		admin Admin
		want  string // the mode, or a part of the error
	}{
		"it answers":           {answer, plain, "follower"},
		"srvr is forbidden":    {forbidden, plain, "follower"},
		"by HTTPS":             {forbidden, encrypted, "follower"},
		"by HTTP, not HTTPS":   {forbidden, Admin{encrypted.Port, plain.Dial}, "4lw.commands.whitelist"},
		"nor is there another": {forbidden, Admin{}, "4lw.commands.whitelist"},
		"it says nothing":      {"", plain, "follower"},
		"no quorum":            {"This ZooKeeper instance is not currently serving requests\n", plain, "has no quorum"},
	} {
		dial := func(context.Context, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				far.Read(make([]byte, 4))
				if c.says == "" {
					far.Read(make([]byte, 1)) // returns when the connection is closed
				}
				far.Write([]byte(c.says))
			}()
			return near, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if got := Ask(ctx, dial, []string{"127.0.0.1:2181"}, c.admin)[0]; got.Mode != c.want && !strings.Contains(got.Error, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
