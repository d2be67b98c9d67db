package blocking_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/watch"
)

// cleanUps are all calls that end something, with what is made while the client is connected.
func cleanUps() map[string]func(f *fixture) call {
	all := map[string]func(f *fixture) call{
		"Client.Close": func(f *fixture) call { return f.client.Close },
		"Client.Close, a delete is pending": func(f *fixture) call {
			return func(ctx context.Context) error {
				ended, cancel := context.WithCancel(ctx)
				cancel()
				_ = f.client.Delete().Guaranteed().ForPath(ended, f.path) // goes on in the background
				f.must(nil, f.client.Delete().Guaranteed().InBackground(ctx, f.path, func(context.Context, error) {}))
				return f.client.Close(ctx)
			}
		},
	}
	for name, lock := range lockKinds {
		all["Lease.Release of "+name] = func(f *fixture) call { return f.held(lock(f, f.client)).Release }
	}
	all["PersistentNode.Leave"] = func(f *fixture) call {
		n, err := nodes.NewPersistentNode(f.client, f.path+"/kept", framework.Ephemeral, nil)
		return started(f, n, err).Leave
	}
	all["ServiceDiscovery.Unregister"] = func(f *fixture) call {
		d := started(f, f.registry(), nil)
		f.must(d.Register(f.Context(), f.instance()))
		return func(ctx context.Context) error { return d.Unregister(ctx, "service", "id") }
	}
	for name, make := range components {
		all[name+".Close"] = func(f *fixture) call { return started(f, make(f), nil).Close }
	}
	return all
}

// components are all that have Start and Close.
var components = map[string]func(f *fixture) framework.Component{
	"shared.Value": func(f *fixture) framework.Component { return f.sharedValue() },
	"shared.Count": func(f *fixture) framework.Component { return f.count() },
	"cache.CuratorCache": func(f *fixture) framework.Component {
		c, err := cache.NewCuratorCache(f.client, f.path)
		return made(f, c, err)
	},
	"modeled.CachedModeledFramework": func(f *fixture) framework.Component {
		m := modeled.Wrap(f.client, modeled.ModelSpec[string]{Path: modeled.ParseZPath(f.path), Codec: codec.String()})
		c, err := m.Cached()
		return made(f, c, err)
	},
	"nodes.PersistentNode": func(f *fixture) framework.Component {
		n, err := nodes.NewPersistentNode(f.client, f.path+"/kept", framework.Ephemeral, nil)
		return made(f, n, err)
	},
	"nodes.GroupMember": func(f *fixture) framework.Component {
		m, err := nodes.NewGroupMember(f.client, f.path+"/group", "id", nil)
		return made(f, m, err)
	},
	"watch.PersistentWatcher": func(f *fixture) framework.Component {
		w, err := watch.NewPersistentWatcher(f.client, f.path, framework.PersistentRecursive)
		return made(f, w, err)
	},
	"leader.LeaderLatch": func(f *fixture) framework.Component {
		l, err := leader.NewLeaderLatch(f.client, f.path)
		return made(f, l, err)
	},
	"discovery.ServiceDiscovery": func(f *fixture) framework.Component {
		d := f.registry()
		f.must(d.Register(f.Context(), f.instance())) // which Start carries out
		return d
	},
	"discovery.ServiceCache": func(f *fixture) framework.Component {
		c, err := f.registry().Cache("service")
		return made(f, c, err)
	},
	"discovery.ServiceProvider": func(f *fixture) framework.Component {
		p, err := f.registry().Provider("service", discovery.ProviderConfig[string]{})
		return made(f, p, err)
	},
}

// A component that is exported is one of these.
func TestCompleteComponents(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	closes := regexp.MustCompile(`^recipes/(\w+): method \(\*(\w+)\) Close\(context\.Context\) error`)
	for line := range strings.Lines(string(text)) {
		if m := closes.FindStringSubmatch(line); m != nil && components[m[1]+"."+m[2]] == nil {
			t.Errorf("%s.%s has a Close, and is not here", m[1], m[2])
		}
	}
}

// A clean-up does not wait for servers that do not come back: neither for silent ones, nor for those that
// refuse the client.
func TestCleanUp(t *testing.T) {
	const most = 8 * time.Second // 5 s without a connection, and what an ended context still has
	for server, gone := range map[string]func(f *fixture) (back func()){
		"no connection": func(f *fixture) (back func()) {
			defer func() { <-time.After(time.Minute) }()
			return f.network.Isolate()
		},
		"a server falls silent": func(f *fixture) (back func()) { return f.network.Isolate() },
		"servers refuse": func(f *fixture) (back func()) {
			defer f.network.Cut()
			return f.b.Server().Refuse()
		},
		"no quorum": func(f *fixture) (back func()) {
			defer func() { <-time.After(time.Minute) }()
			return f.network.WithoutQuorum()
		},
	} {
		for name, make := range cleanUps() {
			t.Run(server+"/"+name, func(t *testing.T) {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					f := newFixture(t, b, framework.WithReadOnly())
					c := make(f)
					back := gone(f)
					begin, ended := time.Now(), newResult()
					go func() { ended <- c(context.Background()) }()
					select {
					case err := <-ended:
						if took := time.Since(begin); took > most+suite.SessionTimeout {
							t.Errorf("it took %v: %v", took, err)
						}
					case <-time.After(5 * time.Minute):
						t.Errorf("it waits on")
					}
					back()
					<-time.After(time.Minute) // what is left is done in the background
				})
			})
		}
	}
}

func newResult() chan error { return make(chan error, 1) }
