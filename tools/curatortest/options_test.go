package curatortest_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestFaultsEndWithTheTest leaves faults to the cleanup of a test that ends before the server does.
func TestFaultsEndWithTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &fakeTB{}
		s := curatortest.Start(tb, curatortest.Virtual())
		conn, err := s.DialContext(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		c := connect(t, conn)
		tb.cleanups = append(tb.cleanups, func() {
			do(t, c, jute.OpCreate, create("/a", 0))
			accepted, err := s.DialContext(t.Context(), "tcp", "")
			if err != nil {
				t.Fatal(err)
			}
			accepted.Close()
		})
		hit := s.Inject(curatortest.Rule{Op: "create", Do: curatortest.CutBefore()})
		s.Refuse()
		s.Pause()
		for _, d := range []curatortest.Direction{curatortest.Both, curatortest.ToServer, curatortest.ToClient} {
			s.Partition(d)
		}
		tb.end()
		if hit() || len(tb.failures) > 0 {
			t.Errorf("hit %t, failures %v", hit(), tb.failures)
		}
		ended(t, c)
	})
}

func TestInjectWithoutCodeFails(t *testing.T) {
	rule := curatortest.Rule{Do: curatortest.Fail(errors.New("no code"))}
	tb := &fakeTB{}
	s := curatortest.Start(tb)
	if hit := s.Inject(rule); hit() || len(tb.failures) != 1 {
		t.Errorf("failures: %v", tb.failures)
	}
	tb.end()
	s, err := curatortest.New()
	if err != nil {
		t.Fatal(err)
	}
	s.Inject(rule)
	if err := s.Close(); err == nil {
		t.Error("Close says nothing of it")
	}
}

// TestRelease has a client without the permission to read ask whether a node is there: an old release says
// so, a new one does not.
func TestRelease(t *testing.T) {
	for release, want := range map[string]error{"": nil, "3.8.0": nil, "3.8.6": framework.ErrNoAuth, "3.9.5": framework.ErrNoAuth} {
		synctest.Test(t, func(t *testing.T) {
			options := []curatortest.Option{curatortest.Virtual()}
			if release != "" {
				options = append(options, curatortest.WithRelease(release))
			}
			s := curatortest.Start(t, options...)
			owner := s.Client(t, framework.WithAuthorization("digest", []byte("alice:secret")))
			if _, err := owner.Create().WithACL(framework.CreatorAllACL()...).ForPath(t.Context(), "/hidden"); err != nil {
				t.Fatal(err)
			}
			there, err := s.Client(t).CheckExists().ForPath(t.Context(), "/hidden")
			if !errors.Is(err, want) || there != (want == nil) {
				t.Errorf("release %q: %t, %v", release, there, err)
			}
		})
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for name, opts := range map[string][]curatortest.Option{
		"nil":                nil,
		"tick":               {curatortest.WithTickTime(0)},
		"no address":         {curatortest.WithListen("")},
		"virtual address":    {curatortest.Virtual(), curatortest.WithListen("127.0.0.1:0")},
		"latency":            {curatortest.WithLatency(-1)},
		"container interval": {curatortest.WithContainerCheckInterval(-1)},
		"container unused":   {curatortest.WithContainerMaxNeverUsed(time.Microsecond)},
		"session timeouts":   {curatortest.WithSessionTimeouts(2*time.Second, time.Second)},
		"sync limit":         {curatortest.WithSyncLimit(0)},
		"init limit":         {curatortest.WithInitLimit(-1)},
		"embedded, sync":     {curatortest.WithSyncLimit(5)},
		"embedded, init":     {curatortest.WithInitLimit(10)},
		"no release":         {curatortest.WithRelease("")},
		"unknown release":    {curatortest.WithRelease("3.9")},
	} {
		if opts == nil {
			opts = []curatortest.Option{nil}
		}
		if _, err := curatortest.New(opts...); !errors.Is(err, curatortest.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := curatortest.New(curatortest.WithListen("256.0.0.1:0")); err == nil {
		t.Error("listens on an address that is none")
	}
	for _, opt := range []curatortest.Option{curatortest.Virtual(), curatortest.WithListen("127.0.0.1:0"), curatortest.WithRelease("3.8.0"), curatortest.WithKeeper()} {
		if _, err := curatortest.NewReal(1, opt); !errors.Is(err, curatortest.ErrInvalidOption) {
			t.Errorf("an option that is not for real servers: %v", err)
		}
	}
	if _, err := curatortest.NewReal(0); !errors.Is(err, curatortest.ErrInvalidOption) {
		t.Errorf("no servers: %v", err)
	}
}

// TestSessionTimeouts asks for a timeout below the lower bound, and for one above the upper bound.
func TestSessionTimeouts(t *testing.T) {
	t.Parallel()
	const least, most = 3 * time.Second, 11 * time.Second
	s := curatortest.Start(t, curatortest.WithSessionTimeouts(least, most))
	real := curatortest.Real(t, curatortest.WithSessionTimeouts(least, most), curatortest.WithSyncLimit(5))
	for _, address := range []string{s.ConnectString(), real.ConnectString()} {
		for ask, want := range map[time.Duration]time.Duration{time.Second: least, 5 * time.Second: 5 * time.Second, time.Minute: most} {
			c, err := rawclient.Connect(dialTCP(t, address), jute.ConnectRequest{TimeOut: int32(ask.Milliseconds())})
			if err != nil {
				t.Fatal(err)
			}
			if got := time.Duration(c.Session.TimeOut) * time.Millisecond; got != want {
				t.Errorf("%s grants %v to a client that asks for %v", address, got, ask)
			}
		}
	}
}

// TestSecureOptionsThatMakeNoSense passes options that the embedded server, or a real one, refuses.
func TestSecureOptionsThatMakeNoSense(t *testing.T) {
	users := func(name, password string) curatortest.Option {
		return curatortest.WithSASL(map[string]string{name: password})
	}
	embedded := func(opt curatortest.Option) error {
		_, err := curatortest.New(opt)
		return err
	}
	real := func(opt curatortest.Option) error {
		_, err := curatortest.NewReal(1, opt)
		return err
	}
	for name, err := range map[string]error{
		"WithTLS: only for real servers":            embedded(curatortest.WithTLS(curatortest.TLS{})),
		"WithSASL: only for real servers":           embedded(users("orders", "secret")),
		"WithSASLRequired: only for real servers":   embedded(curatortest.WithSASLRequired()),
		"WithReadOnlyMode: only for real servers":   embedded(curatortest.WithReadOnlyMode()),
		"WithAdminServer: only real servers":        embedded(curatortest.WithAdminServer()),
		"WithTLS: ZooKeeper does not support":       real(curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAnyClientCert})),
		"WithSASL: no users":                        real(curatortest.WithSASL(nil)),
		"WithSASL: the user":                        real(users("or ders", "secret")),
		"WithSASL: the password of orders is":       real(users("orders", "\n")),
		"WithSASL: the password of orders contains": real(users("orders", "${user.home}")),
		"WithSASLRequired: there are no users":      real(curatortest.WithSASLRequired()),
		"WithReadOnlyMode: a standalone server":     real(curatortest.WithReadOnlyMode()),
	} {
		if !errors.Is(err, curatortest.ErrInvalidOption) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

// TestSocketsInBubble uses sockets in a bubble, where they would stop the clock.
func TestSocketsInBubble(t *testing.T) {
	outside := curatortest.Start(t)
	synctest.Test(t, func(t *testing.T) {
		for name, use := range map[string]func(tb *fakeTB){
			"server": func(tb *fakeTB) { curatortest.Start(tb) },
			"client": func(tb *fakeTB) { outside.Client(tb) },
		} {
			tb := &fakeTB{}
			use(tb)
			tb.end()
			if got := strings.Join(tb.failures, "; "); len(tb.failures) != 1 || !strings.Contains(got, "Virtual") {
				t.Errorf("%s: failures: %q", name, got)
			}
		}
	})
}

// TestFaultsOfNoSession passes the id that a client has before it is connected.
func TestFaultsOfNoSession(t *testing.T) {
	tb := &fakeTB{}
	server := curatortest.Start(tb)
	none := new(framework.Client).SessionID()
	server.ExpireSession(none)
	server.DisconnectSession(none)
	server.PartitionSession(none, curatortest.Both)
	tb.end()
	if got := strings.Join(tb.logged, "; "); strings.Count(got, "BlockUntilConnected") != 3 || len(tb.failures) > 0 {
		t.Errorf("logged: %q, failures: %q", got, tb.failures)
	}
}
