package framework_test

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// orders is the certificate of a client, with a name in which some is quoted.
var orders = curatortest.Certificate{Subject: pkix.Name{
	CommonName: "orders", Organization: []string{`Example, Inc. "East"`}, Country: []string{"DE"},
}}

// TestTLSOfRealServer has clients connect to ZooKeeper's own port for TLS, which wants client
// certificates, and to servers whose certificates must not be accepted.
func TestTLSOfRealServer(t *testing.T) {
	server := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAndVerifyClientCert}))
	expired := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{
		Server: curatortest.Certificate{NotAfter: time.Now().Add(-time.Hour)},
	}))
	elsewhere := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{
		Server: curatortest.Certificate{Hosts: []string{"zk1.example.org", "127.0.0.2"}},
	}))
	named := elsewhere.TLSConfig()
	named.ServerName = "zk1.example.org"
	expiredClient := server.TLSConfigWith(curatortest.Certificate{NotAfter: time.Now().Add(-time.Hour)})
	unknownClient := server.TLSConfigWith(curatortest.Certificate{UnknownAuthority: true})
	var running sync.WaitGroup // t.Parallel would wait for one refusal after the other
	for name, c := range map[string]struct {
		server   *curatortest.Ensemble
		settings *tls.Config
		want     string // in the error, if there is one
	}{
		"a client certificate":          {server, server.TLSConfigWith(orders), ""},
		"no client certificate":         {server, server.TLSConfig(), "remote error: tls: "},
		"an expired client certificate": {server, expiredClient, "remote error: tls: "},
		"a client of an unknown CA":     {server, unknownClient, "remote error: tls: "},
		"a name that is given":          {elsewhere, named, ""},
		"a wrong name":                  {elsewhere, elsewhere.TLSConfig(), "certificate is valid for 127.0.0.2, not 127.0.0.1"},
		"an expired certificate":        {expired, expired.TLSConfig(), "certificate has expired"},
		"an unknown authority":          {server, expired.TLSConfig(), "certificate signed by unknown authority"},
	} {
		for what, do := range map[string]func(context.Context, *framework.Client) error{"request": exists, "BlockUntilConnected": blockUntilConnected} {
			running.Go(func() {
				t.Run(name+"/"+what, func(t *testing.T) {
					err := withTLSClient(t, c.server.TLSConnectString(), c.settings, do)
					if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
						t.Errorf("error %v, want %q", err, c.want)
					}
				})
			})
		}
	}
	running.Wait()
}

// connectionTimeout is that of the clients of these tests.
const connectionTimeout = 3 * time.Second

// exists does a request, which waits for a connection as long as that timeout.
func exists(ctx context.Context, c *framework.Client) error {
	_, err := c.CheckExists().ForPath(ctx, "/")
	return err
}

// blockUntilConnected waits as long as a request would.
func blockUntilConnected(ctx context.Context, c *framework.Client) error {
	ctx, cancel := context.WithTimeout(ctx, connectionTimeout)
	defer cancel()
	return c.BlockUntilConnected(ctx)
}

// withTLSClient returns the error of what is done with a new client.
func withTLSClient(t *testing.T, address string, settings *tls.Config, do func(context.Context, *framework.Client) error) error {
	t.Helper()
	client, err := framework.NewClient(address, retry.None(), framework.WithTLS(settings),
		framework.WithConnectionTimeout(connectionTimeout), framework.WithoutEnsembleTracker())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	return do(t.Context(), client)
}

// TestX509ACL keeps nodes for the clients with a certificate, by its name, and over a restart
// of the server, to which it is presented again.
func TestX509ACL(t *testing.T) {
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
