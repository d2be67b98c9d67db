package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

var saslUsers = map[string]string{"orders": "s3cret of orders", "billing": "s3cret of billing"}

// digestMD5 returns the mechanism of a user.
func digestMD5(t *testing.T, user, password string) framework.SASL {
	t.Helper()
	start, err := framework.DigestMD5(user, password)
	if err != nil {
		t.Fatal(err)
	}
	return start
}

// TestSASLOfRealServer has clients authenticate with servers that want it, that insist on it, and
// that know nothing of it.
func TestSASLOfRealServer(t *testing.T) {
	t.Parallel()
	offered := curatortest.Real(t, curatortest.WithSASL(saslUsers))
	required := curatortest.Real(t, curatortest.WithSASL(saslUsers), curatortest.WithSASLRequired())
	without := suite.Real(t)
	var running sync.WaitGroup
	for _, c := range []struct {
		name     string
		server   interface{ ConnectString() string }
		user     string // "" for no authentication
		password string
		want     string // in the error, if there is one
		dials    int32
	}{
		{"offered, right", offered, "orders", saslUsers["orders"], "", 1},
		{"offered, wrong password", offered, "orders", "wrong s3cret", "SASL DIGEST-MD5: refused by the server", 3},
		{"offered, no such user", offered, "nobody", "wrong s3cret", "SASL DIGEST-MD5: refused by the server", 3},
		{"offered, none", offered, "", "", "", 1},
		{"required, right", required, "orders", saslUsers["orders"], "", 1},
		{"required, wrong password", required, "orders", "wrong s3cret", "SASL DIGEST-MD5: refused by the server", 3},
		{"required, none", required, "", "", "authenticate by SASL", 3},
		{"without", without, "orders", saslUsers["orders"], "the server is not set up for SASL", 3},
	} {
		running.Go(func() {
			t.Run(c.name, func(t *testing.T) {
				var dials atomic.Int32
				opts := []framework.Option{framework.WithoutEnsembleTracker(), framework.WithDialer(
					func(ctx context.Context, network, address string) (net.Conn, error) {
						dials.Add(1)
						return new(net.Dialer).DialContext(ctx, network, address)
					})}
				if c.user != "" {
					opts = append(opts, framework.WithSASL(digestMD5(t, c.user, c.password)))
				}
				client, err := framework.NewClient(c.server.ConnectString(), retry.None(), opts...)
				if err != nil {
					t.Fatal(err)
				}
				if err := client.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					wantSASL(t, existsAtLast(t.Context(), client), c.want)
				}
				wantSASL(t, blockUntilConnected(t.Context(), client), c.want)
				if n := dials.Load(); n < c.dials || n > 3 { // a server may refuse one who is right: see zkconn
					t.Errorf("it has connected %d times", n)
				}
				if err := client.Close(t.Context()); err != nil && c.want == "" {
					t.Error(err)
				}
			})
		})
	}
	running.Wait()
}

// existsAtLast asks until it has an answer, or the client has given up. A connection that a server has refused
// ends as others do.
func existsAtLast(ctx context.Context, client *framework.Client) error {
	for {
		if err := exists(ctx, client); !errors.Is(err, framework.ErrConnectionLoss) || framework.MaybeApplied(err) {
			return err
		}
	}
}

// TestOneRealServerRefuses has clients connect to two servers, of which the first one refuses them.
func TestOneRealServerRefuses(t *testing.T) {
	t.Parallel()
	offered := curatortest.Real(t, curatortest.WithSASL(saslUsers))
	for name, c := range map[string]struct {
		first interface{ ConnectString() string }
		sasl  framework.SASL
	}{
		"without users":  {suite.Real(t), digestMD5(t, "orders", saslUsers["orders"])},
		"wrong password": {offered, wrongFirst(t)},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			servers := map[string]string{} // by what was dialed
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				mu.Lock()
				if servers[address] == "" {
					servers[address] = []string{c.first.ConnectString(), offered.ConnectString()}[len(servers)]
				}
				server := servers[address]
				mu.Unlock()
				return new(net.Dialer).DialContext(ctx, network, server)
			}
			client, err := framework.NewClient("one:2181,other:2181", retry.None(),
				framework.WithoutEnsembleTracker(), framework.WithDialer(dial), framework.WithSASL(c.sasl))
			if err == nil {
				err = client.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := client.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			if err := existsAtLast(t.Context(), client); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(servers) != 2 {
				t.Errorf("dialed %v", servers)
			}
		})
	}
}

// wrongFirst returns a mechanism that has the wrong password on its first connection.
func wrongFirst(t *testing.T) framework.SASL {
	t.Helper()
	var logins atomic.Int32
	wrong, right := digestMD5(t, "orders", "wrong s3cret"), digestMD5(t, "orders", saslUsers["orders"])
	return func(ctx context.Context, server string) (framework.SASLMechanism, error) {
		if logins.Add(1) == 1 {
			return wrong(ctx, server)
		}
		return right(ctx, server)
	}
}

// wantSASL wants ErrAuthFailed with that text, or for "" no error; and never a password.
func wantSASL(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err == nil:
	case want == "" || !errors.Is(err, framework.ErrAuthFailed) || framework.Retryable(err):
		t.Errorf("error %v, want %q", err, want)
	case !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret"):
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestSASLACL keeps nodes for a user, over a restart of the server, with which the clients
// authenticate again.
func TestSASLACL(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t, curatortest.WithSASL(saslUsers), curatortest.WithSessionTimeouts(time.Second, patience))
	client := func(opts ...framework.Option) *framework.Client {
		opts = append(opts, framework.WithoutEnsembleTracker(), framework.WithSessionTimeout(patience))
		return curatortest.NewClient(t, server.ConnectString(), opts...)
	}
	login, logins := digestMD5(t, "orders", saslUsers["orders"]), atomic.Int32{}
	owner := client(framework.WithSASL(func(ctx context.Context, server string) (framework.SASLMechanism, error) {
		logins.Add(1)
		return login(ctx, server)
	}))
	states := listening(owner)
	others := map[string]*framework.Client{
		"another user":      client(framework.WithSASL(digestMD5(t, "billing", saslUsers["billing"]))),
		"nobody":            client(),
		"one who claims it": client(framework.WithAuthorization("digest", []byte("orders:"+saslUsers["orders"]))),
	}
	acls := map[string][]framework.ACL{
		"/byname":  {{Perms: framework.PermAll, Scheme: "sasl", ID: "orders"}},
		"/creator": framework.CreatorAllACL(),
	}
	wantForOwner := func(when, path string) {
		t.Helper()
		if _, err := owner.GetData().ForPath(t.Context(), path); err != nil {
			t.Errorf("%s, %s: the owner: %v", when, path, err)
		}
		for name, other := range others {
			if _, err := other.GetData().ForPath(t.Context(), path); !errors.Is(err, framework.ErrNoAuth) {
				t.Errorf("%s, %s: %s: %v", when, path, name, err)
			}
		}
	}
	for path, acl := range acls {
		if _, err := owner.Create().WithACL(acl...).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		wantForOwner("before a restart", path)
	}
	session, before := owner.SessionID(), logins.Load()
	server.Member(0).Restart()
	for path := range acls {
		wantForOwner("after a restart", path)
	}
	if logins.Load() == before {
		t.Error("the owner has not authenticated again")
	}
	if told := states.await(t, state.Reconnected); slices.Contains(told, state.Lost) || owner.SessionID() != session {
		t.Errorf("states %v before RECONNECTED, session %x after %x", told, owner.SessionID(), session)
	}
}

func TestSASLOptions(t *testing.T) {
	if _, err := framework.NewClient("a", retry.None(), framework.WithSASL(nil)); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("nil: %v", err)
	}
	for _, c := range [][2]string{{"", "s3cret"}, {"orders", ""}, {"or\nders", "s3cret"}, {"orders", "s3cret\xff"}} {
		if _, err := framework.DigestMD5(c[0], c[1]); !errors.Is(err, framework.ErrInvalidOption) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", c, err)
		}
	}
	start := digestMD5(t, "orders", "s3cret")
	m, err := start(t.Context(), "zk1:2181")
	if err != nil || m.Name() != "DIGEST-MD5" {
		t.Errorf("mechanism %v, error %v", m, err)
	}
	if _, _, err := m.Next(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, _, err := m.Next(t.Context(), []byte(`nonce="n",algorithm=md5-sess`)); err != nil {
		t.Error(err)
	}
	for _, v := range []any{start, m, framework.WithSASL(start), framework.WithAuthorization("digest", []byte("orders:s3cret"))} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "s3cret") {
				t.Errorf("%s shows %s", verb, text)
			}
		}
	}
}
