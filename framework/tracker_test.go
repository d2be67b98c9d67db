package framework_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// standIn is the node that clients of an atlas take for that of the ensemble's
// configuration, which only an ensemble can write. The paths have the same length.
const standIn = "/config-to-change"

// atlas is a virtual server that is found under every name, but for those that are down.
type atlas struct {
	*testing.T
	server *curatortest.Server
	writer *framework.Client

	mu     sync.Mutex
	dialed []string
	down   []string
}

// onAtlas runs a test in virtual time; there is a configuration, unless it is empty.
func onAtlas(t *testing.T, config string, test func(a *atlas)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &atlas{T: t, server: curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond))}
		a.writer = a.server.Client(t)
		if config != "" {
			a.create(config)
		}
		test(a)
	})
}

// misled replaces the path of the configuration in what is sent and received; here each
// frame passes in one piece.
type misled struct{ net.Conn }

func (c misled) Write(p []byte) (int, error) {
	return c.Conn.Write(bytes.ReplaceAll(p, []byte("/zookeeper/config"), []byte(standIn)))
}

func (c misled) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	copy(p[:n], bytes.ReplaceAll(p[:n], []byte(standIn), []byte("/zookeeper/config")))
	return n, err
}

func (a *atlas) dial(ctx context.Context, network, address string) (net.Conn, error) {
	a.mu.Lock()
	a.dialed = append(a.dialed, address)
	down := slices.Contains(a.down, address)
	a.mu.Unlock()
	if down {
		return nil, errors.New("no route")
	}
	conn, err := a.server.DialContext(ctx, network, address)
	return misled{conn}, err
}

// shut makes servers unreachable, and all others reachable.
func (a *atlas) shut(servers ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = servers
}

// client returns a client that has done what it does by itself.
func (a *atlas) client(connect string, opts ...framework.Option) *framework.Client {
	a.Helper()
	opts = append([]framework.Option{framework.WithDialer(a.dial), framework.WithSessionTimeout(2 * time.Second)}, opts...)
	client := curatortest.NewClient(a, connect, opts...)
	synctest.Wait()
	return client
}

func (a *atlas) create(config string) {
	a.Helper()
	if _, err := a.writer.Create().WithData([]byte(config)).ForPath(a.Context(), standIn); err != nil {
		a.Fatal(err)
	}
	synctest.Wait()
}

func (a *atlas) set(config string) {
	a.Helper()
	if _, err := a.writer.SetData().ForPath(a.Context(), standIn, []byte(config)); err != nil {
		a.Fatal(err)
	}
	synctest.Wait()
}

// wantDials checks which servers were dialed since the last time.
func (a *atlas) wantDials(what string, want ...string) {
	a.Helper()
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.dialed, want) {
		a.Errorf("%s: there were dialed %v, want %v", what, a.dialed, want)
	}
	a.dialed = nil
}

// cut ends the connections, after a time that makes them a success.
func (a *atlas) cut() {
	time.Sleep(2 * time.Second)
	a.server.Disconnect()
	synctest.Wait()
}

func (a *atlas) wantWatches(what string, want int) {
	a.Helper()
	if n := a.server.Watches(); n != want {
		a.Errorf("%s: %d watches, want %d", what, n, want)
	}
}

// TestTracker has an ensemble be reconfigured under a client with a chroot and a namespace.
func TestTracker(t *testing.T) {
	onAtlas(t, "server.1=b:1:2;2181\nversion=100000001", func(a *atlas) {
		client := a.client("a:2181/app", framework.WithNamespace("space"))
		a.wantDials("at the start", "a:2181")
		a.wantWatches("at the start", 1)
		session := client.SessionID()
		e := client.CurrentEnsemble()
		if e.Version != 0x100000001 || len(e.Servers) != 1 || e.Servers[0].ClientAddress != "0.0.0.0:2181" {
			a.Errorf("the ensemble is %+v", e)
		}
		e.Servers[0].Addresses[0].Host = "changed"
		if e := client.CurrentEnsemble(); e.Servers[0].Addresses[0].Host != "b" {
			a.Error("what CurrentEnsemble returned is shared")
		}
		a.cut()
		a.wantDials("the connection was cut", "b:2181")
		a.wantWatches("the connection was cut", 1)

		a.set("server.3=c:1:2:observer;c.example.org:2182\nversion=100000002")
		if e := client.UsingNamespace("").CurrentEnsemble(); e.Version != 0x100000002 || len(e.Servers) != 1 || !e.Servers[0].Observer {
			a.Errorf("after a change the ensemble is %+v", e)
		}
		a.wantDials("the server was removed") // its connection works
		a.wantWatches("after a change", 1)
		a.cut()
		a.wantDials("the connection was cut again", "c.example.org:2182")

		a.shut("c.example.org:2182")
		a.cut()
		a.wantDials("the ensemble's names are of no use", "c.example.org:2182", "a:2181")
		if id := client.SessionID(); id != session {
			a.Errorf("the session was 0x%x, is 0x%x", session, id)
		}
		if err := client.Close(a.Context()); err != nil {
			a.Error(err)
		}
		a.wantWatches("after Close", 0)
	})
}

// A persistent watch of a user on the configuration takes the place of the tracker's at the server. Its
// removal removes that, too, and the tracker goes on all the same.
func TestTrackerBesidePersistentWatch(t *testing.T) {
	onAtlas(t, "server.1=b:1:2;2181", func(a *atlas) {
		client := a.client("a:2181")
		a.cut()
		w := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
		for _, mode := range []framework.AddWatchMode{framework.PersistentWatch, framework.PersistentRecursive} {
			if err := client.Watches().Add().WithMode(mode).ForPath(a.Context(), "/zookeeper/config", w); err != nil {
				a.Fatal(err)
			}
		}
		if err := client.Watches().Remove().ForPath(a.Context(), "/zookeeper/config", w); err != nil {
			a.Fatal(err)
		}
		synctest.Wait()
		a.wantWatches("after the removal", 1)
		a.set("server.3=c:1:2;2181\nversion=7")
		if e := client.CurrentEnsemble(); e.Version != 7 {
			a.Errorf("after a change the ensemble is %+v", e)
		}
	})
}

// TestTrackerHoldsBack has configurations that say too little, or nothing.
func TestTrackerHoldsBack(t *testing.T) {
	for name, config := range map[string]string{
		"static":  "server.1=b:1:2\nserver.2=c:1:2;2181\nversion=0",
		"garbled": "server.1=b:1:2;2181\nserver.2=?",
		"no more": "version=0",
	} {
		t.Run(name, func(t *testing.T) {
			onAtlas(t, config, func(a *atlas) {
				client := a.client("a:2181")
				a.wantWatches("at the start", 1)
				a.cut()
				a.wantDials("the connection was cut", "a:2181", "a:2181")
				if n := len(client.CurrentEnsemble().Servers); n != 0 && name != "static" || name == "static" && n != 2 {
					a.Errorf("%d servers", n)
				}
				a.set("server.1=b:1:2;2181") // better late than never
				a.cut()
				a.wantDials("after a change", "b:2181")
			})
		})
	}
	t.Run("no ensemble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := curatortest.Start(t, curatortest.Virtual())
			client := curatortest.NewClient(t, server.ConnectString(), framework.WithDialer(server.DialContext))
			synctest.Wait()
			if n := server.Watches(); n != 0 || len(client.CurrentEnsemble().Servers) != 0 {
				t.Errorf("%d watches, ensemble %+v", n, client.CurrentEnsemble())
			}
		})
	})
}

// TestTrackerCannotRead has the configuration be missing, forbidden, and not to be had for a
// while.
func TestTrackerCannotRead(t *testing.T) {
	const config = "server.1=b:1:2;2181"
	onAtlas(t, "", func(a *atlas) {
		a.client("a:2181")
		a.wantWatches("a missing node", 0)
		a.create(config)
		hit := a.server.Inject(curatortest.Rule{Op: "getData", Path: standIn, Do: curatortest.Fail(framework.ErrNoAuth)})
		a.cut()
		time.Sleep(time.Minute)
		a.wantWatches("a forbidden node", 0)
		if !hit() {
			a.Error("it was not read")
		}
		a.cut()
		a.wantWatches("a node that can be read again", 1)
		a.wantDials("until then", "a:2181", "a:2181", "a:2181")
	})
	onAtlas(t, config, func(a *atlas) {
		a.server.Inject(curatortest.Rule{Op: "getData", Path: standIn, Times: 2, Do: curatortest.Fail(framework.ErrConnectionLoss)})
		client := a.client("a:2181")
		a.wantWatches("an error that passes", 0)
		time.Sleep(time.Minute)
		a.wantWatches("a minute later", 1)
		if n := len(client.CurrentEnsemble().Servers); n != 1 {
			a.Errorf("%d servers", n)
		}
	})
}

// TestNoTracker has it turned off, and with TLS, for which the configuration has no ports.
func TestNoTracker(t *testing.T) {
	const config = "server.1=b:1:2;2181"
	onAtlas(t, config, func(a *atlas) {
		client := a.client("a:2181", framework.WithoutEnsembleTracker())
		a.wantWatches("turned off", 0)
		if n := len(client.CurrentEnsemble().Servers); n != 0 {
			a.Errorf("%d servers", n)
		}
	})
	onAtlas(t, config, func(a *atlas) {
		certificate, trust := certify(a.T, "a")
		var running sync.WaitGroup
		defer running.Wait()
		client := a.client("a:2181", framework.WithTLS(&tls.Config{RootCAs: trust}),
			framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				upstream, err := a.dial(ctx, network, address)
				if err != nil {
					return nil, err
				}
				ours, theirs := net.Pipe()
				running.Go(func() {
					splice(tls.Server(theirs, &tls.Config{Certificates: []tls.Certificate{certificate}}), upstream)
				})
				return ours, nil
			}))
		if err := client.BlockUntilConnected(a.Context()); err != nil {
			a.Fatal(err)
		}
		synctest.Wait()
		a.wantWatches("with TLS", 0)
		if err := client.Close(a.Context()); err != nil {
			a.Error(err)
		}
	})
}

// TestTrackerOfStrangers has clients without a life.
func TestTrackerOfStrangers(t *testing.T) {
	var none *framework.Client
	fresh, err := framework.NewClient("a", retry.None())
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []*framework.Client{none, new(framework.Client), fresh} {
		if e := client.CurrentEnsemble(); e.Version != 0 || e.Servers != nil {
			t.Errorf("the ensemble is %+v", e)
		}
	}
}
