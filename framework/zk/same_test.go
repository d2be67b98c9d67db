package zk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// stat shows what of a Stat is the same for a node that another client has made.
func stat(s *zk.Stat) string {
	if s == nil {
		return "nil"
	}
	return fmt.Sprintf("{v%d cv%d av%d len %d children %d ephemeral %t made %t}",
		s.Version, s.Cversion, s.Aversion, s.DataLength, s.NumChildren, s.EphemeralOwner != 0, s.Czxid != 0)
}

// calls are one call of each kind on a path, and what they say.
var calls = map[string]func(c api, p string) string{
	"get": func(c api, p string) string {
		data, s, err := c.Get(p)
		return fmt.Sprintf("%t %q %s %s", data == nil, data, stat(s), word(err))
	},
	"getW": func(c api, p string) string {
		data, s, ch, err := c.GetW(p)
		return fmt.Sprintf("%q %s %t %s", data, stat(s), ch != nil, word(err))
	},
	"exists": func(c api, p string) string {
		ok, s, err := c.Exists(p)
		return fmt.Sprintf("%t %s %s", ok, stat(s), word(err))
	},
	"existsW": func(c api, p string) string {
		ok, s, ch, err := c.ExistsW(p)
		return fmt.Sprintf("%t %s %t %s", ok, stat(s), ch != nil, word(err))
	},
	"children": func(c api, p string) string {
		names, s, err := c.Children(p)
		slices.Sort(names)
		return fmt.Sprintf("%t %q %s %s", names == nil, names, stat(s), word(err))
	},
	"childrenW": func(c api, p string) string {
		names, s, ch, err := c.ChildrenW(p)
		return fmt.Sprintf("%d %s %t %s", len(names), stat(s), ch != nil, word(err))
	},
	"set": func(c api, p string) string {
		s, err := c.Set(p, []byte("ab"), -1)
		return stat(s) + " " + word(err)
	},
	"set another version": func(c api, p string) string {
		s, err := c.Set(p, nil, 77)
		return stat(s) + " " + word(err)
	},
	"getACL": func(c api, p string) string {
		acl, s, err := c.GetACL(p)
		return fmt.Sprintf("%v %s %s", acl, stat(s), word(err))
	},
	"setACL": func(c api, p string) string {
		s, err := c.SetACL(p, zk.DigestACL(zk.PermAll, "u", "p"), -1)
		again, wrong := c.SetACL(p, world, 77)
		return stat(s) + " " + word(err) + stat(again) + " " + word(wrong)
	},
	"setACL empty": func(c api, p string) string {
		s, err := c.SetACL(p, nil, -1)
		return stat(s) + " " + word(err)
	},
	"create": func(c api, p string) string {
		name, err := c.Create(p, nil, zk.FlagPersistent, world)
		return strings.TrimPrefix(name, p) + " " + word(err)
	},
	"create child": func(c api, p string) string {
		name, err := c.Create(p+"/child", []byte("x"), zk.FlagEphemeral, world)
		below, refused := c.Create(p+"/child/below", nil, 0, world)
		_, notEmpty := "", c.Delete(p, -1)
		return strings.TrimPrefix(name, p) + " " + word(err) + below + word(refused) + word(notEmpty)
	},
	"create sequential": func(c api, p string) string {
		name, err := c.Create(p+"/", nil, zk.FlagEphemeralSequential, world)
		second, err2 := c.Create(p+"/n", nil, zk.FlagSequence, world)
		return strings.TrimPrefix(name, p) + " " + word(err) + strings.TrimPrefix(second, p) + word(err2)
	},
	"create with flags": func(c api, p string) (all string) {
		for _, flag := range []int32{-1, 0, 1, 2, 3, 4, 5, 6, 7, 999} {
			_, plain := c.Create(p+"/f", nil, flag, world)
			_, container := c.CreateContainer(p+"/c", nil, flag, world)
			_, ttl := c.CreateTTL(p+"/t", nil, flag, world, time.Minute)
			all += fmt.Sprintf("%d: %s; %s; %s\n", flag, word(plain), word(container), word(ttl))
		}
		return all
	},
	"create without ACL": func(c api, p string) string {
		_, err := c.Create(p+"/x", nil, 0, nil)
		_, bad := c.Create(p+"/y", nil, 0, []zk.ACL{{Perms: 31, Scheme: "nonsense", ID: "x"}})
		_, protected := c.CreateProtectedEphemeralSequential(p+"/z", nil, nil)
		return word(err) + " " + word(bad) + " " + word(protected)
	},
	"protected": func(c api, p string) string {
		name, err := c.CreateProtectedEphemeralSequential(p+"/n-", nil, world)
		below, err2 := c.CreateProtectedEphemeralSequential(p+"/", nil, world)
		return shape(strings.TrimPrefix(name, p)) + word(err) + shape(strings.TrimPrefix(below, p)) + word(err2)
	},
	"delete another version": func(c api, p string) string { return word(c.Delete(p, 77)) },
	"delete":                 func(c api, p string) string { return word(c.Delete(p, -1)) },
	"sync": func(c api, p string) string {
		path, err := c.Sync(p)
		return strings.TrimPrefix(path, p) + " " + word(err)
	},
	"multi": func(c api, p string) string {
		return multi(c.Multi(
			&zk.CreateRequest{Path: p + "/m", Data: []byte("x"), Acl: world}, &zk.SetDataRequest{Path: p + "/m", Version: 0},
			&zk.CheckVersionRequest{Path: p + "/m", Version: 1}, &zk.DeleteRequest{Path: p + "/m", Version: -1}))
	},
	"multi refused": func(c api, p string) string {
		return multi(c.Multi(&zk.CreateRequest{Path: p + "/m", Acl: world}, &zk.DeleteRequest{Path: p + "/none", Version: -1},
			&zk.SetDataRequest{Path: p, Version: 1}))
	},
	"multi of nothing":         func(c api, _ string) string { return multi(c.Multi()) },
	"multi of something else":  func(c api, _ string) string { return multi(c.Multi("x")) },
	"multi with another value": func(c api, p string) string { return multi(c.Multi(zk.DeleteRequest{Path: p})) },
	"multi with a nil":         func(c api, _ string) string { return multi(c.Multi((*zk.CreateRequest)(nil))) },
	"multi with a bad path":    func(c api, _ string) string { return multi(c.Multi(&zk.DeleteRequest{Path: "none"})) },
	"reconfig": func(c api, _ string) string {
		s, err := c.Reconfig([]string{"server.1=127.0.0.1:1:2;3"}, -1)
		s2, err2 := c.IncrementalReconfig(nil, []string{"1"}, -1)
		return stat(s) + word(err) + stat(s2) + word(err2)
	},
	"auth": func(c api, _ string) string {
		return word(c.AddAuth("digest", []byte("u:p"))) + word(c.AddAuth("digest", []byte("u:p")))
	},
}

// shape is a protected name without its id, of which only the length counts.
func shape(name string) string {
	begin, rest, _ := strings.Cut(name, "-")
	return fmt.Sprint(len(begin), " ", strings.Index(begin, "_c_"), " ", rest, " ")
}

func multi(responses []zk.MultiResponse, err error) string {
	all := fmt.Sprint(responses == nil, " ")
	for _, r := range responses {
		all += stat(r.Stat) + " " + fmt.Sprint(r.String != "") + " " + word(r.Error) + "; "
	}
	return all + word(err)
}

// badPaths are refused, or not, as the driver does. It overlooks "/./x" by a slip.
var badPaths = []string{
	"", "x", "/x/", "//x", "/x//y", "/../x", "/x/.", "/x/..", "/x/...", "/.x", "/x\x00", "/x\x01", "/x\x1f", "/x\x7f", "/x\u0085",
	"/x\uf000", "/x\ufff0", "/x\xff", "/x y", "/ü", "/x/../y",
}

// makeAll makes a node with data, and its parents.
func makeAll(t *testing.T, c api, p string) {
	t.Helper()
	for i := 1; i <= len(p); i++ {
		if i == len(p) || p[i] == '/' {
			if _, err := c.Create(p[:i], []byte("d"), 0, world); err != nil && err != zk.ErrNodeExists {
				t.Fatal(err)
			}
		}
	}
}

// Each call says what the driver's says, of a node that is there, of one that is missing, and of a path that is none.
func TestSameAsDriver(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		ours, _, _ := connect(t, b)
		theirs, _, _ := connectDriver(t, b)
		for name, call := range calls {
			say := func(c api, kind string) string {
				root := b.Path(strings.ReplaceAll(name, " ", "-"))
				makeAll(t, c, root+"/"+kind)
				return call(c, root+"/"+kind) + "\n" + call(c, root+"/"+kind+"/none/none")
			}
			if o, d := say(ours, "a"), say(theirs, "b"); o != d {
				t.Errorf("%s\nours:   %s\ndriver: %s", name, o, d)
			}
		}
		for _, p := range badPaths {
			// What passes is refused by the server: nothing changes.
			say := func(c api) string {
				_, _, exists := c.Exists(p)
				_, plain := c.Create(p, nil, zk.FlagPersistent, nil)
				_, sequential := c.Create(p, nil, zk.FlagSequence, nil)
				_, protected := c.CreateProtectedEphemeralSequential(p, nil, nil)
				_, sync := c.Sync(p)
				return fmt.Sprint(word(exists), word(plain), word(sequential), word(protected), word(sync), word(c.Delete(p, 99)))
			}
			if o, d := say(ours), say(theirs); o != d {
				t.Errorf("%q\nours:   %s\ndriver: %s", p, o, d)
			}
		}
	})
}

// Each call whose connection ends, before or behind the server's work, says what the driver's says behind it. Before it,
// the driver has any error of the network.
func TestSameWhenCut(t *testing.T) {
	ops := map[string]jute.Op{
		"get": jute.OpGetData, "getW": jute.OpGetData, "exists": jute.OpExists, "existsW": jute.OpExists,
		"children": jute.OpGetChildren2, "childrenW": jute.OpGetChildren2, "set": jute.OpSetData, "getACL": jute.OpGetACL,
		"setACL empty": jute.OpSetACL, "create": jute.OpCreate, "delete": jute.OpDelete, "sync": jute.OpSync, "multi": jute.OpMulti,
	}
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		ours, _, on := connect(t, b)
		theirs, _, dn := connectDriver(t, b)
		for name, op := range ops {
			say := func(c api, n *suite.Network, cut suite.Fate) string {
				p := fmt.Sprintf("/%s-%d-%p", strings.ReplaceAll(name, " ", "-"), cut, n)
				makeAll(t, c, p)
				n.On(op, cut, nil)
				said := calls[name](c, p)
				for range 5 {
					if _, _, err := c.Exists("/"); err == nil {
						break
					}
					time.Sleep(time.Second)
					synctest.Wait()
				}
				return said
			}
			want := say(theirs, dn, suite.CutAfter)
			for _, cut := range []suite.Fate{suite.CutBefore, suite.CutAfter} {
				if got := say(ours, on, cut); got != want {
					t.Errorf("%s, cut %v\nours:   %s\ndriver: %s", name, cut, got, want)
				}
			}
		}
	})
}
