//go:build unix

package main

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s *server) {
		if stdout, _ := s.ask(0, "health"); !strings.Contains(stdout, s.address+"  standalone  0x") {
			t.Errorf("stdout %q", stdout)
		}
		if stdout, _ := s.ask(0, "health", "-o", "json"); !strings.Contains(stdout, `"healthy": true`) || !strings.Contains(stdout, `"mode": "standalone"`) {
			t.Errorf("stdout %q", stdout)
		}
		nobody := freeAddress(t)
		stdout, stderr := s.ask(1, "health", "--connect", s.address+","+nobody)
		if !strings.Contains(stdout, nobody+"  down  ") || !strings.Contains(stdout, "connection refused") || stderr != "curator: the ensemble is not healthy\n" {
			t.Errorf("stdout %q, stderr %q", stdout, stderr)
		}
	})
}

// TestHealthByAdminServer asks servers whose port for clients does not answer.
func TestHealthByAdminServer(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(nil)
	certified.Close() // only its certificate is of use, and its client, which trusts it
	client := certified.Client()
	t.Cleanup(client.CloseIdleConnections)
	pair := certified.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pemFile(t, "certificate.pem", "CERTIFICATE", pair.Certificate...)
	store := writeFile(t, "store.pem", string(readAll(t, pemFile(t, "key.pem", "PRIVATE KEY", key)))+string(readAll(t, certificate)), 0o600)
	silent := talker(t, "")
	for name, c := range map[string]struct {
		flags   []string
		options []curatortest.Option
	}{
		"http": {nil, nil},
		"https": {[]string{"--admin-https", "--tls", "--tls-ca", certificate}, []curatortest.Option{curatortest.WithSettings(map[string]string{
			"admin.forceHttps": "true", "ssl.quorum.keyStore.location": store, "ssl.quorum.trustStore.location": certificate,
		})}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := curatortest.Real(t, append(c.options, curatortest.WithTickTime(tick), curatortest.WithAdminServer())...)
			port := strconv.Itoa(server.Member(0).AdminPort())
			// Jetty loads its classes at the first request: on a busy machine for longer than health waits.
			request := suite.Got(http.NewRequestWithContext(t.Context(), http.MethodGet, name+"://127.0.0.1:"+port+"/commands/ruok", http.NoBody)).OK(t)
			suite.Eventually(t, "the first answer of the AdminServer", func() bool {
				response, err := client.Do(request)
				if err == nil {
					response.Body.Close()
				}
				return err == nil
			})
			args := append([]string{"health", "--connect", silent, "--admin-port", port, "-o", "json"}, c.flags...)
			code, stdout, stderr := runHere(t, nil, args...)
			if code != 0 || !strings.Contains(stdout, `"mode": "standalone"`) || !strings.Contains(stdout, `"version": "3.`) || !strings.Contains(stdout, `"zxid": "0x`) {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
	if code, _, stderr := runHere(t, nil, "health", "--connect", silent, "--admin-https"); code != 64 || !strings.Contains(stderr, "--admin-https needs --tls") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
