package framework_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// privateNames is a Resolver for which every name stands for one address.
type privateNames struct{ netip.Addr }

func (p privateNames) LookupNetIP(_ context.Context, network, _ string) ([]netip.Addr, error) {
	if network != "ip" {
		return nil, net.UnknownNetworkError(network)
	}
	return []netip.Addr{p.Addr}, nil
}

// TestResolver has names looked up, or left to the dialer. A certificate is verified against the
// name in both cases.
func TestResolver(t *testing.T) {
	certificate, trust := certify(t, "zk1.example.org")
	server := curatortest.Start(t)
	secure := secured(t, server.ConnectString(), &tls.Config{Certificates: []tls.Certificate{certificate}})
	resolver := framework.WithResolver(privateNames{netip.MustParseAddr("10.0.0.7")})
	for name, c := range map[string]struct {
		host   string
		opts   []framework.Option
		dialed string
		want   string // in the error, if there is one
	}{
		"the dialer is given names": {"zk1.example.org", nil, "zk1.example.org:2281", ""},
		"it is given addresses":     {"zk1.example.org", []framework.Option{resolver}, "10.0.0.7:2281", ""},
		"a wrong name":              {"zk2.example.org", []framework.Option{resolver}, "10.0.0.7:2281", "zk2.example.org:2281 (10.0.0.7): tls: "},
	} {
		t.Run(name, func(t *testing.T) {
			var dialed atomic.Value
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				dialed.Store(address)
				return secure(ctx, network, address)
			}
			wantOutcome(t, exists, c.want, c.host+":2281", dial, append(slices.Clip(c.opts), framework.WithTLS(&tls.Config{RootCAs: trust}))...)
			if got := dialed.Load(); got != c.dialed {
				t.Errorf("it was dialed %v, want %s", got, c.dialed)
			}
		})
	}
	if _, err := framework.NewClient("a", retry.None(), framework.WithResolver(nil)); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("no resolver: %v", err)
	}
}
