package curatortest_test

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// connectTLS opens a session over TLS, within a few seconds.
func connectTLS(t *testing.T, address string, settings *tls.Config) (*rawclient.Client, error) {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", address, settings)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10000})
}

// past is when an expired certificate expired.
var past = time.Now().Add(-time.Hour)

// TestTLS connects clients with each kind of certificate, to a server that asks for none and to a
// server that requires one.
func TestTLS(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		name    string
		auth    tls.ClientAuthType
		refusal string // the error of a client without a valid certificate
	}{
		{"NoClientCert", tls.NoClientCert, ""},
		{"RequireAndVerifyClientCert", tls.RequireAndVerifyClientCert, "remote error: tls: "},
	} {
		t.Run(s.name, func(t *testing.T) {
			real := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: s.auth}))
			wrongName := real.TLSConfig()
			wrongName.ServerName = "zk9.example.org"
			for name, c := range map[string]struct {
				settings *tls.Config
				want     string // a part of the error, "" for none
			}{
				"no certificate":       {real.TLSConfig(), s.refusal},
				"a certificate":        {real.TLSConfigWith(curatortest.Certificate{Subject: pkix.Name{CommonName: "orders"}}), ""},
				"an expired one":       {real.TLSConfigWith(curatortest.Certificate{NotAfter: past}), s.refusal},
				"an unknown authority": {real.TLSConfigWith(curatortest.Certificate{UnknownAuthority: true}), s.refusal},
				"another host":         {wrongName, "not zk9.example.org"},
			} {
				t.Run(name, func(t *testing.T) {
					client, err := connectTLS(t, real.TLSConnectString(), c.settings)
					if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
						t.Errorf("error %v, want %q", err, c.want)
					}
					if err == nil {
						do(t, client, jute.OpExists, read("/"))
					}
				})
			}
			do(t, connectTCP(t, real.ConnectString()), jute.OpExists, read("/")) // the plain port serves, too
		})
	}
}

// TestTLSServerCertificate starts a server with a certificate that its clients must refuse,
// and breaks the network to its port for TLS.
func TestTLSServerCertificate(t *testing.T) {
	t.Parallel()
	real := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{Server: curatortest.Certificate{
		Subject: pkix.Name{CommonName: "zk1"}, Hosts: []string{"zk1.example.org"}, NotAfter: past, UnknownAuthority: true,
	}}))
	insecure := real.TLSConfig()
	insecure.InsecureSkipVerify = true
	client, err := connectTLS(t, real.TLSConnectString(), insecure)
	if err != nil {
		t.Fatal(err)
	}
	certificate := client.Conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
	if certificate.Subject.String() != "CN=zk1" || !slices.Equal(certificate.DNSNames, []string{"zk1.example.org"}) {
		t.Errorf("it presents a certificate of %v for %v", certificate.Subject, certificate.DNSNames)
	}
	for _, c := range []struct {
		why  string
		time time.Time
		host string
	}{
		{"certificate has expired", time.Now(), "zk1.example.org"},
		{"not zk2.example.org", past.Add(-time.Hour), "zk2.example.org"},
		{"signed by unknown authority", past.Add(-time.Hour), "zk1.example.org"},
	} {
		settings := real.TLSConfig()
		settings.Time, settings.ServerName = func() time.Time { return c.time }, c.host
		if _, err := connectTLS(t, real.TLSConnectString(), settings); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("error %v, want %q", err, c.why)
		}
	}

	wantSilence(t, client, "/", real.Member(0).Partition(curatortest.Both))
}
