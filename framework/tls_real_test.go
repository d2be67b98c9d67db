package framework_test

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// orders is the certificate of a client, with a name in which some is quoted.
var orders = curatortest.Certificate{Subject: pkix.Name{
	CommonName: "orders", Organization: []string{`Example, Inc. "East"`}, Country: []string{"DE"},
}}

// TestTLSOfRealServer has clients connect to ZooKeeper's own port for TLS, which wants client
// certificates, and clients that must not accept the server's.
func TestTLSOfRealServer(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAndVerifyClientCert}))
	settings := func(change func(s *tls.Config)) *tls.Config {
		s := server.TLSConfigWith(orders)
		change(s)
		return s
	}
	_, others := certify(t, "zk1.example.org")
	for name, c := range map[string]struct {
		settings *tls.Config
		want     string // in the error, if there is one
	}{
		"a client certificate":  {server.TLSConfigWith(orders), ""},
		"no client certificate": {server.TLSConfig(), "remote error: tls: "},
		"an expired client certificate": {
			server.TLSConfigWith(curatortest.Certificate{NotAfter: time.Now().Add(-time.Hour)}), "remote error: tls: ",
		},
		"a client of an unknown CA": {server.TLSConfigWith(curatortest.Certificate{UnknownAuthority: true}), "remote error: tls: "},
		"a name that is given":      {settings(func(s *tls.Config) { s.ServerName = "localhost" }), ""},
		"a wrong name": {
			settings(func(s *tls.Config) { s.ServerName = "zk1.example.org" }), "certificate is valid for localhost, not zk1.example.org",
		},
		"an expired certificate": {
			settings(func(s *tls.Config) { s.Time = func() time.Time { return time.Now().AddDate(1, 0, 0) } }), "certificate has expired",
		},
		"an unknown authority": {settings(func(s *tls.Config) { s.RootCAs = others }), "certificate signed by unknown authority"},
	} {
		for what, do := range map[string]func(context.Context, *framework.Client) error{"request": exists, "BlockUntilConnected": blockUntilConnected} {
			t.Run(name+"/"+what, func(t *testing.T) {
				wantOutcome(t, do, c.want, server.TLSConnectString(), new(net.Dialer).DialContext, framework.WithTLS(c.settings))
			})
		}
	}
}

// TestX509ACL keeps nodes for the clients with a certificate, by its name, and over a restart
// of the server, to which it is presented again.
func TestX509ACL(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.VerifyClientCertIfGiven}))
	client := func(settings *tls.Config) *framework.Client {
		return curatortest.NewClient(t, server.TLSConnectString(), framework.WithTLS(settings), framework.WithoutEnsembleTracker())
	}
	owner := client(server.TLSConfigWith(orders))
	others := map[string]*framework.Client{
		"another certificate": client(server.TLSConfigWith(curatortest.Certificate{Subject: pkix.Name{CommonName: "orders"}})),
		"no certificate":      client(server.TLSConfig()),
		"no TLS":              server.Client(t),
	}
	mine := []framework.ACL{{Perms: framework.PermAll, Scheme: "x509", ID: orders.Subject.String()}}
	for path, acl := range map[string][]framework.ACL{"/byname": mine, "/creator": framework.CreatorAllACL()} {
		if _, err := owner.Create().WithACL(acl...).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		got, err := owner.GetACL().ForPath(t.Context(), path)
		if err != nil || len(got) != 1 || got[0] != mine[0] {
			t.Errorf("%s has the ACL %v, want %v; error %v", path, got, mine, err)
		}
		for name, other := range others {
			if _, err := other.GetData().ForPath(t.Context(), path); !errors.Is(err, framework.ErrNoAuth) {
				t.Errorf("%s with %s: %v", path, name, err)
			}
		}
	}
	server.Member(0).Restart()
	if _, err := owner.GetData().ForPath(t.Context(), "/byname"); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}
