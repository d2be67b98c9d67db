package interop_test

import (
	"log/slog"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/tools/curatortest"
)

// membersText is members as Java's Nodes answers them.
func membersText(members map[string][]byte) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(members)) {
		all = append(all, id+"="+string(members[id]))
	}
	return strings.Join(all, " ")
}

// A group has members of both languages, who all know all, their payloads, and who has left.
func TestGroupOfBothLanguages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	group := e.b.Path("group")
	java := []*javaContender{e.newJava(e.jvm), e.newJava(e.jvm)}
	ours, err := nodes.NewGroupMember(e.observer, group, "go", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	until := func(want string) {
		t.Helper()
		suite.Eventually(t, "everybody to know "+want, func() bool {
			return membersText(ours.Members()) == want && java[0].do("nodeMembers", group) == want
		})
	}
	java[0].do("nodeJoin", group, "java-0", "2")
	suite.Eventually(t, "Java's node", func() bool { // its start does not wait for that
		return string(e.lookIf(group+"/java-0").Data) == "2"
	})
	if err := ours.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := membersText(ours.Members()); got != "go=1 java-0=2" {
		t.Fatalf("after Start the members are %q", got)
	}
	java[1].do("nodeJoin", group, "java-1")
	members := ours.Members()
	suite.Eventually(t, "the member without a payload of its own", func() bool {
		members = ours.Members()
		return len(members) == 3
	})
	address := string(members["java-1"])
	if _, err := netip.ParseAddr(address); err != nil {
		t.Fatalf("the default payload is %q", address)
	}
	until("go=1 java-0=2 java-1=" + address)
	java[0].do("nodePayload", group, "3")
	until("go=1 java-0=3 java-1=" + address)
	if err := ours.SetPayload(t.Context(), []byte("4")); err != nil {
		t.Fatal(err)
	}
	until("go=4 java-0=3 java-1=" + address)
	java[1].do("nodeLeave", group)
	until("go=4 java-0=3")
	if err := ours.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "Java to be alone", func() bool { return java[0].do("nodeMembers", group) == "java-0=3" })
	java[0].do("nodeLeave", group)
}

// keptModes are modes by Java's names, with what their nodes are called.
var keptModes = []struct {
	java      string
	mode      framework.CreateMode
	protected bool
	name      string
}{
	{"PERSISTENT", framework.Persistent, false, `node`},
	{"EPHEMERAL", framework.Ephemeral, false, `node`},
	{"EPHEMERAL", framework.Ephemeral, true, `_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-node`},
	{"PERSISTENT_SEQUENTIAL", framework.PersistentSequential, false, `node0000000000`},
	{"EPHEMERAL_SEQUENTIAL", framework.EphemeralSequential, true, `_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-node0000000000`},
}

// Kept nodes and their parents look alike, whichever language keeps them, also when they were
// deleted and made again.
func TestKeptNodeFormat(t *testing.T) {
	t.Parallel()
	for _, mode := range keptModes {
		name := mode.java
		if mode.protected {
			name += " protected"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			var made, parents []seen
			for _, language := range "JG" {
				path := e.b.Path(string(language)) + "/node"
				actual, session, drop := e.keep(language, path, mode.java, mode.mode, mode.protected)
				if _, node := paths.ParentAndNode(actual); !regexp.MustCompile("^" + mode.name + "$").MatchString(node) {
					t.Errorf("%c: the node's name is %q", language, node)
				}
				first := e.look(actual)
				if err := e.observer.Delete().ForPath(t.Context(), actual); err != nil {
					t.Fatal(err)
				}
				suite.Eventually(t, "the node to be made again", func() bool {
					there, err := e.observer.CheckExists().ForPath(t.Context(), actual)
					return err == nil && there
				})
				again := e.look(actual)
				dir, _ := paths.ParentAndNode(actual)
				for _, s := range []*seen{&first, &again} {
					if owner := s.Stat.EphemeralOwner; owner != 0 && owner != session {
						t.Errorf("%c: the node is of session %x", language, owner)
					}
					if strings.HasPrefix(mode.java, "EPHEMERAL") != (s.Stat.EphemeralOwner != 0) {
						t.Errorf("%c: the owner is %x", language, s.Stat.EphemeralOwner)
					}
					s.Stat.EphemeralOwner = 0
					made = append(made, *s)
				}
				parents = append(parents, e.look(dir))
				drop()
			}
			differing := cmp.Options{
				cmpopts.IgnoreFields(framework.Stat{}, "Czxid", "Mzxid", "Pzxid"),
				cmpopts.IgnoreTypes(time.Time{}),
			}
			for i, both := range [][2]seen{{made[0], made[2]}, {made[1], made[3]}, {parents[0], parents[1]}} {
				if diff := cmp.Diff(both[0], both[1], differing); diff != "" {
					t.Errorf("look %d: Java's and ours differ:\n%s", i, diff)
				}
			}
		})
	}
}

// keep has a client of a language keep a node.
func (e *env) keep(language rune, path, java string, mode framework.CreateMode, protected bool) (actual string, session int64, drop func()) {
	e.t.Helper()
	if language == 'J' {
		c := e.newJava(e.jvm)
		return c.do("nodeKeep", path, java, protected, "kept"), c.session(), func() { c.do("nodeDrop", path) }
	}
	var opts []nodes.Option
	if protected {
		opts = append(opts, nodes.WithProtection())
	}
	node, err := nodes.NewPersistentNode(e.observer, path, mode, []byte("kept"), opts...)
	if err == nil {
		err = node.Start(e.t.Context())
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return node.ActualPath(), e.observer.SessionID(), func() {
		if err := node.Close(e.t.Context()); err != nil {
			e.t.Error(err)
		}
	}
}

// A keeper of each language on one path, with different data, end in peace: nobody writes but
// after a reconnect of its own, and then once at most. When the one that has the node goes, the
// other makes it.
func TestKeepersInPeace(t *testing.T) {
	t.Parallel()
	for _, first := range "JG" {
		t.Run("first "+string(first), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			path := e.b.Path("node")
			relay := newRelay(t, e.b.ConnectString())
			java := e.newJavaAt(relay.Address())
			client := curatortest.NewClient(t, relay.Address(), framework.WithSessionTimeout(suite.LongSession),
				framework.WithoutEnsembleTracker(), framework.WithLogger(slog.New(slog.DiscardHandler)))
			ours, err := nodes.NewPersistentNode(client, path, framework.Ephemeral, []byte("go"))
			if err != nil {
				t.Fatal(err)
			}
			start := map[rune]func(){
				'J': func() { java.do("nodeKeep", path, "EPHEMERAL", false, "java") },
				'G': func() {
					if err := ours.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
				},
			}
			start[first]()
			owner := e.look(path).Stat.EphemeralOwner
			start['J'+'G'-first]()
			if look := e.look(path); look.Stat.EphemeralOwner != owner || look.Stat.Version != 1 {
				t.Fatalf("after both have started: %+v", look.Stat)
			}
			for round := range int32(3) {
				relay.Disconnect()
				// Both look at the node after the reconnect, and write at most once.
				if err := client.Sync().ForPath(t.Context(), "/"); err != nil {
					t.Fatal(err)
				}
				java.do("session")
				e.settled(path)
				if version := e.look(path).Stat.Version; version > 1+2*(round+1) {
					t.Fatalf("round %d: version %d", round, version)
				}
			}
			if first == 'J' {
				java.do("nodeDrop", path)
				suite.Eventually(t, "our own node", func() bool { return string(e.lookIf(path).Data) == "go" })
				if got := e.look(path).Stat.EphemeralOwner; got != client.SessionID() {
					t.Errorf("the node is of session %x", got)
				}
			}
			if err := ours.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if first == 'G' {
				suite.Eventually(t, "Java's own node", func() bool { return string(e.lookIf(path).Data) == "java" })
				java.do("nodeDrop", path)
			}
		})
	}
}

// lookIf is look for a node that may be missing.
func (e *env) lookIf(path string) (s seen) {
	e.t.Helper()
	if there, err := e.observer.CheckExists().ForPath(e.t.Context(), path); err != nil || !there {
		return s
	}
	data, err := e.observer.GetData().StoringStatIn(&s.Stat).ForPath(e.t.Context(), path)
	if err == nil {
		s.Data = data
	}
	return s
}

// settled waits until the data has not been written for half a second.
func (e *env) settled(path string) {
	e.t.Helper()
	last, since := e.look(path).Stat.Mzxid, time.Now()
	suite.Eventually(e.t, "peace", func() bool {
		if now := e.look(path).Stat.Mzxid; now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	})
}
