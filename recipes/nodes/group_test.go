package nodes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

// group is an env whose directory is that of a group.
type group struct {
	*env
}

func eachGroup(t *testing.T, on suite.Backends, test func(t *testing.T, g *group)) {
	suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) { test(t, &group{newEnv(t, b)}) })
}

// member makes a member, which is closed at the end of the test.
func (g *group) member(client *framework.Client, id, payload string) *nodes.GroupMember {
	g.t.Helper()
	m, err := nodes.NewGroupMember(client, g.dir, id, []byte(payload))
	g.operate(err)
	g.t.Cleanup(func() {
		if err := m.Close(context.WithoutCancel(g.t.Context())); err != nil && !errors.Is(err, framework.ErrClosed) && !errors.Is(err, context.DeadlineExceeded) {
			g.t.Errorf("Close: %v", err)
		}
	})
	return m
}

// joined is member, started.
func (g *group) joined(client *framework.Client, id, payload string) *nodes.GroupMember {
	g.t.Helper()
	m := g.member(client, id, payload)
	g.operate(m.Start(g.t.Context()))
	return m
}

// text is members as "id=payload ...", by their ids.
func text(members map[string][]byte) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(members)) {
		all = append(all, id+"="+string(members[id]))
	}
	return strings.Join(all, " ")
}

func (g *group) until(m *nodes.GroupMember, want string) {
	g.t.Helper()
	suite.Eventually(g.t, "the members "+want, func() bool { return text(m.Members()) == want })
}

// N5: everybody knows everybody, at once after Start, with their payloads, and hears of those who
// leave.
func TestGroup(t *testing.T) {
	eachGroup(t, withRealServer, func(t *testing.T, g *group) {
		a := g.joined(g.client, "a", "1")
		if got := text(a.Members()); got != "a=1" {
			t.Fatalf("the members are %q", got)
		}
		b := g.joined(g.operator, "b", "2")
		if got := text(b.Members()); got != "a=1 b=2" {
			t.Fatalf("the members are %q", got)
		}
		g.until(a, "a=1 b=2")
		g.operate(b.SetPayload(t.Context(), []byte("3")))
		g.until(a, "a=1 b=3")
		g.until(b, "a=1 b=3")
		g.operate(a.Close(t.Context()))
		g.until(b, "b=3")
		if got := text(a.Members()); strings.Contains(got, "a=") {
			t.Errorf("after Close the members are %q", got)
		}
		g.operate(b.Close(t.Context()))
		g.wantNone()
		if n := g.watches(g.client) + g.watches(g.operator); n > 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}

// A nil payload is the client's default data.
func TestGroupDefaultPayload(t *testing.T) {
	eachGroup(t, suite.InVirtualTime, func(t *testing.T, g *group) {
		m, err := nodes.NewGroupMember(g.client, g.dir, "a", nil)
		g.operate(err)
		g.operate(m.Start(t.Context()))
		g.until(m, "a=test") // see suite.Backend.Client
		g.operate(m.SetPayload(t.Context(), []byte{}))
		g.until(m, "a=")
		g.operate(m.SetPayload(t.Context(), nil))
		g.until(m, "a=test")
		g.operate(m.Close(t.Context()))
	})
}

// The member knows of the others again after whatever happens to its connection or to the group,
// and is among them all the time.
func TestGroupFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault func(g *group, others *nodes.GroupMember)
		want  string
	}{
		"cut":     {func(g *group, _ *nodes.GroupMember) { g.network.Cut() }, "a=1 b=2"},
		"expired": {func(g *group, _ *nodes.GroupMember) { g.network.Expire(g.t) }, "a=1 b=2"},
		"changes while cut off": {func(g *group, other *nodes.GroupMember) {
			heal := g.network.Isolate()
			defer heal()
			g.operate(other.SetPayload(g.t.Context(), []byte("3")))
		}, "a=1 b=3"},
		"other leaves while cut off": {func(g *group, other *nodes.GroupMember) {
			heal := g.network.Isolate()
			defer heal()
			g.operate(other.Close(g.t.Context()))
		}, "a=1"},
		"all deleted": {func(g *group, _ *nodes.GroupMember) { g.deleteAll() }, "a=1 b=2"},
		"own node deleted": {func(g *group, _ *nodes.GroupMember) {
			g.operate(g.operator.Delete().ForPath(g.t.Context(), g.dir+"/a"))
		}, "a=1 b=2"},
		"node below a member": {func(g *group, _ *nodes.GroupMember) {
			_, err := g.operator.Create().CreatingParentsIfNeeded().ForPath(g.t.Context(), g.dir+"/c/below")
			g.operate(err)
		}, "a=1 b=2 c="},
		"read cut off": {func(g *group, other *nodes.GroupMember) {
			hit := g.network.On(jute.OpGetData, suite.CutAfter, nil)
			g.operate(other.SetPayload(g.t.Context(), []byte("3")))
			<-hit
		}, "a=1 b=3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachGroup(t, withRealServer, func(t *testing.T, g *group) {
				a, other := g.joined(g.client, "a", "1"), g.joined(g.operator, "b", "2")
				g.until(a, "a=1 b=2")
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan string)
				go func() {
					missing, last := "", ""
					for members := range a.Updates(ctx) {
						if last = text(members); !strings.Contains(last, "a=1") {
							missing = last
						}
					}
					ended <- missing
				}()
				tt.fault(g, other)
				if g.b.Virtual {
					elapse(time.Minute)
				}
				g.until(a, tt.want)
				cancel()
				if missing := <-ended; missing != "" {
					t.Errorf("the member was not among %q", missing)
				}
			})
		})
	}
}

// Updates: what is at once, then what has become of the group while the body ran, and nothing
// twice; they end with the context, with Close and with the client.
func TestGroupUpdates(t *testing.T) {
	eachGroup(t, suite.InVirtualTime, func(t *testing.T, g *group) {
		a := g.member(g.client, "a", "1")
		var told []string
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for members := range a.Updates(t.Context()) { // begins before Start
				told = append(told, text(members))
				members["a"][0] = 'x' // the caller's own
				<-time.After(time.Minute)
			}
		}()
		elapse(time.Minute)
		g.operate(a.Start(t.Context()))
		elapse(time.Second)
		for i := range 10 {
			other := g.joined(g.operator, fmt.Sprint("b", i), "2")
			if i < 9 {
				g.operate(other.Close(t.Context()))
			}
		}
		elapse(10 * time.Minute)
		g.operate(a.Close(t.Context()))
		<-ended
		if want := []string{"a=1", "a=1 b9=2"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		for range a.Updates(t.Context()) {
			t.Error("an update after Close")
		}
	})
	for name, end := range map[string]func(g *group, cancel func()){
		"context": func(_ *group, cancel func()) { cancel() },
		"client":  func(g *group, _ func()) { g.operate(g.client.Close(g.t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			eachGroup(t, suite.InVirtualTime, func(t *testing.T, g *group) {
				a := g.joined(g.client, "a", "1")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var ending sync.WaitGroup
				ending.Go(func() {
					elapse(time.Minute)
					end(g, cancel)
				})
				n := 0
				for range a.Updates(ctx) {
					n++
				}
				ending.Wait()
				if n != 1 {
					t.Errorf("%d updates", n)
				}
			})
		})
	}
}

// A Start that fails leaves nothing, and may be called again; the context of Start is not the
// member's life.
func TestGroupStart(t *testing.T) {
	eachGroup(t, withRealServer, func(t *testing.T, g *group) {
		a := g.member(g.client, "a", "1")
		for _, op := range []jute.Op{jute.OpAddWatch, jute.OpGetChildren2, jute.OpCreate2} {
			ctx, cancel := context.WithCancel(t.Context())
			hit := g.network.On(op, suite.CutAfter, cancel)
			suite.WantErr(t, a.Start(ctx), context.Canceled)
			<-hit
			g.connected(g.client)
			g.untilNone()
			suite.Eventually(t, "no watch", func() bool { return g.watches(g.client) == 0 })
			if got := a.Members(); len(got) > 0 {
				t.Errorf("the members are %q", text(got))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		g.operate(a.Start(ctx))
		cancel()
		g.joined(g.operator, "b", "2")
		g.until(a, "a=1 b=2")
		suite.WantErr(t, a.Start(t.Context()), framework.ErrAlreadyStarted)
	})
}

// Many members join, and each knows all of them.
func TestLargeGroup(t *testing.T) {
	const n = 30
	eachGroup(t, suite.InVirtualTime, func(t *testing.T, g *group) {
		var all []*nodes.GroupMember
		for i := range n {
			client := g.client
			if i%2 == 1 {
				client = g.operator
			}
			all = append(all, g.joined(client, fmt.Sprintf("%02d", i), "x"))
		}
		elapse(time.Second)
		want := all[0].Members()
		for i, m := range all {
			if got := m.Members(); len(got) != n || !maps.EqualFunc(got, want, bytes.Equal) {
				t.Fatalf("member %d knows %d members", i, len(got))
			}
		}
	})
}

// Close works with an ended context and without a connection.
func TestGroupClose(t *testing.T) {
	t.Parallel()
	eachGroup(t, withRealServer, func(t *testing.T, g *group) {
		a := g.joined(g.client, "a", "1")
		b := g.joined(g.operator, "b", "2")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g.operate(b.Close(ctx))
		g.until(a, "a=1")
		heal := g.network.Isolate()
		suite.WantErr(t, a.Close(ctx), context.DeadlineExceeded)
		heal()
		g.untilNone()
	})
}
