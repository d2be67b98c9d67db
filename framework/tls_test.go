package framework_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// dialer is for framework.WithDialer.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// wantOutcome does something with a new client, which fails with an error that has the text want, or for
// "" succeeds. What waits in vain is given up at the second try to connect: then the client knows why the
// first one has failed.
func wantOutcome(t *testing.T, do func(context.Context, *framework.Client) error, want, connect string, dial dialer, opts ...framework.Option) {
	t.Helper()
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var tries atomic.Int32
	opts = append(slices.Clip(opts), framework.WithoutEnsembleTracker(), framework.WithConnectionTimeout(time.Minute),
		framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if tries.Add(1) > 1 && want != "" {
				giveUp()
			}
			return dial(ctx, network, address)
		}))
	client, err := framework.NewClient(connect, retry.None(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = do(ctx, client)
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := client.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// exists does a request.
func exists(ctx context.Context, c *framework.Client) error {
	_, err := c.CheckExists().ForPath(ctx, "/")
	return err
}

// blockUntilConnected waits, and not for ever.
func blockUntilConnected(ctx context.Context, c *framework.Client) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return c.BlockUntilConnected(ctx)
}

// certify returns a certificate of a server, or of a client, and who trusts it.
func certify(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: parsed}, pool
}

// secured puts TLS in front of a server, as a terminating proxy does, and returns a dialer
// for which every name stands for it.
func secured(t *testing.T, server string, settings *tls.Config) dialer {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", settings)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { relay(conn, server) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		running.Wait()
	})
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}
}

func relay(client net.Conn, server string) {
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		client.Close()
		return
	}
	splice(client, upstream)
}

// splice passes on what each of two connections is sent, until one of them ends.
func splice(client, upstream net.Conn) {
	defer client.Close()
	defer upstream.Close()
	var back sync.WaitGroup
	back.Go(func() {
		io.Copy(client, upstream)
		client.Close()
	})
	io.Copy(upstream, client)
	upstream.Close()
	back.Wait()
}

// TestTLS has clients connect to two servers, each with its name, and with what must not be
// accepted.
func TestTLS(t *testing.T) {
	certificate, trust := certify(t, "zk1.example.org")
	ours, trustOurs := certify(t, "client.example.org")
	_, trustOthers := certify(t, "zk1.example.org")
	server := curatortest.Start(t)
	dial := secured(t, server.ConnectString(), &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: trustOurs,
	})
	mutual := secured(t, server.ConnectString(), &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trustOurs,
	})
	for name, c := range map[string]struct {
		host     string
		dial     dialer
		settings *tls.Config
		want     string // in the error, if there is one
	}{
		"the name of the connect string": {"zk1.example.org", dial, &tls.Config{RootCAs: trust}, ""},
		"another name that is given":     {"10.0.0.1", dial, &tls.Config{RootCAs: trust, ServerName: "zk1.example.org"}, ""},
		"a client certificate":           {"zk1.example.org", mutual, &tls.Config{RootCAs: trust, Certificates: []tls.Certificate{ours}}, ""},
		"no client certificate":          {"zk1.example.org", mutual, &tls.Config{RootCAs: trust}, "certificate required"},
		"a wrong name":                   {"zk2.example.org", dial, &tls.Config{RootCAs: trust}, "not zk2.example.org"},
		"a wrong authority":              {"zk1.example.org", dial, &tls.Config{RootCAs: trustOthers}, "certificate signed by unknown authority"},
		"a server without TLS":           {"zk1.example.org", server.DialContext, &tls.Config{RootCAs: trust}, "it closes the connection in the TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			wantOutcome(t, exists, c.want, c.host+":2281", c.dial, framework.WithTLS(c.settings))
		})
	}
	if _, err := framework.NewClient("a", retry.None(), framework.WithTLS(nil)); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("nil settings: %v", err)
	}
}
