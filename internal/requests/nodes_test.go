package requests_test

import (
	"context"
	"iter"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/nodes"
)

func nodeCases() []tableCase {
	life := func(op, row string, mode framework.CreateMode, opts ...nodes.Option) tableCase {
		return tableCase{"recipes/nodes: " + op, row, func(f *fixture) {
			f.nodes("/parent")
			n, err := nodes.NewPersistentNode(f.client, "/parent/kept", mode, []byte("x"), opts...)
			nodeLife(f, made(f, n, err))
		}}
	}
	all := []tableCase{
		life("WithProtection", "ephemeral", framework.Ephemeral, nodes.WithProtection()),
		life("WithProtection", "sequential", framework.EphemeralSequential, nodes.WithProtection()),
		life("WithoutParents", "ephemeral", framework.Ephemeral, nodes.WithoutParents()),
		life("WithACL", "ephemeral", framework.Ephemeral, nodes.WithACL(framework.OpenACLUnsafe()[0], framework.OpenACLUnsafe()[0])),
		life("WithTakeover", "ephemeral", framework.Ephemeral, nodes.WithTakeover()),
		life("WithStartInBackground", "ephemeral", framework.Ephemeral, nodes.WithStartInBackground()),
		{"recipes/nodes: NewPersistentTTLNode", "until Close", func(f *fixture) {
			n, err := nodes.NewPersistentTTLNode(f.client, "/parent/kept", time.Hour, []byte("x"))
			nodeLife(f, made(f, n, err))
		}},
		{"recipes/nodes: WithTouch", "four times in forty seconds", func(f *fixture) {
			n, err := nodes.NewPersistentTTLNode(f.client, "/parent/kept", 40*time.Second, []byte("x"), nodes.WithTouch("touched", 4))
			f.ok(err)
			f.step("Start", func() { started(f, n) })
			f.step("the time passes", settle)
			f.step("Close", func() { f.ok(n.Close(f.Context())) })
		}},
	}
	for _, m := range []framework.CreateMode{
		framework.Persistent, framework.Ephemeral, framework.PersistentSequential, framework.EphemeralSequential, framework.Container,
	} {
		all = append(all, life("(*PersistentNode) Start", m.String(), m))
	}
	all = append(all, existingNodeCases()...)
	return append(all, memberCases()...)
}

// nodeLife is from Start to Close, with what may happen to a node.
func nodeLife(f *fixture, n *nodes.PersistentNode) {
	f.step("Start", func() { started(f, n) })
	f.step("SetData", func() { f.ok(n.SetData(f.Context(), []byte("y"))) })
	f.step("another client writes the node", func() { f.must(f.other.SetData().ForPath(f.Context(), n.ActualPath(), nil)) })
	f.step("and deletes it", func() { f.ok(f.other.Delete().DeletingChildrenIfNeeded().ForPath(f.Context(), n.ActualPath())) })
	f.cut()
	f.expire()
	f.step("an answer to a write is lost", func() {
		f.unanswered("setData")
		f.ok(n.SetData(f.Context(), []byte("z")))
	})
	f.step("Close", func() { f.ok(n.Close(f.Context())) })
}

func existingNodeCases() []tableCase {
	of := func(f *fixture, c *framework.Client, opts ...nodes.Option) *nodes.PersistentNode {
		n, err := nodes.NewPersistentNode(c, "/parent/kept", framework.Ephemeral, []byte("x"), opts...)
		return made(f, n, err)
	}
	start := func(op, row string, opts ...nodes.Option) tableCase {
		return tableCase{"recipes/nodes: " + op, row, func(f *fixture) {
			first := started(f, of(f, f.other, opts...))
			n := of(f, f.client, opts...)
			f.step("Start", func() { started(f, n) })
			f.step("the other client closes its node", func() { f.ok(first.Close(f.Context())) })
			f.step("Close", func() { f.ok(n.Close(f.Context())) })
		}}
	}
	return []tableCase{
		start("(*PersistentNode) Start", "another client's node is there"),
		start("WithTakeover", "another client's node is there", nodes.WithTakeover()),
		{"recipes/nodes: (*PersistentNode) Start", "an answer to a create is lost", func(f *fixture) {
			f.nodes("/parent")
			n := of(f, f.client)
			f.step("Start", func() {
				f.unanswered("create")
				started(f, n)
			})
		}},
		{"recipes/nodes: (*PersistentNode) SetData", "two more while one is under way", func(f *fixture) {
			n := started(f, of(f, f.client))
			set := func(ctx context.Context) error { return n.SetData(ctx, []byte("y")) }
			f.step("call", func() {
				first := f.waits(set)
				<-time.After(latency)
				second, third := f.waits(set), f.waits(set)
				first()
				second()
				third()
			})
		}},
		{"recipes/nodes: (*PersistentNode) Leave", "free", func(f *fixture) {
			n := started(f, of(f, f.client))
			f.step("call", func() { f.ok(n.Leave(f.Context())) })
			f.cut()
		}},
		{"recipes/nodes: (*PersistentNode) Close", "an answer is lost", func(f *fixture) {
			n := started(f, of(f, f.client))
			f.step("call", func() {
				f.unanswered("delete")
				f.ok(n.Close(f.Context()))
			})
		}},
	}
}

// memberCases have no end of a session: a member creates its node again and lists the group at the same time,
// and what it reads then depends on which comes first.
func memberCases() []tableCase {
	of := func(f *fixture, c *framework.Client, id string, opts ...nodes.Option) *nodes.GroupMember {
		f.concurrent = true
		m, err := nodes.NewGroupMember(c, "/group", id, []byte("x"), opts...)
		return made(f, m, err)
	}
	return []tableCase{
		{"recipes/nodes: (*GroupMember) Start", "until Close", func(f *fixture) {
			m := of(f, f.client, "me")
			f.step("Start", func() { started(f, m) })
			var second *nodes.GroupMember
			f.step("another client joins", func() { second = started(f, of(f, f.other, "you")) })
			f.cut()
			f.step("the other client leaves", func() { f.ok(second.Close(f.Context())) })
			f.step("Close", func() { f.ok(m.Close(f.Context())) })
		}},
		{"recipes/nodes: (*GroupMember) SetPayload", "free", func(f *fixture) {
			m := started(f, of(f, f.client, "me"))
			f.step("call", func() { f.ok(m.SetPayload(f.Context(), []byte("y"))) })
		}},
		updates("recipes/nodes: (*GroupMember) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[map[string][]byte], func()) {
			return started(f, of(f, f.client, "me")).Updates, func() { started(f, of(f, f.other, "you")) }
		}),
		{"recipes/nodes: WithStartInBackground", "of a member", func(f *fixture) {
			m := of(f, f.client, "me", nodes.WithStartInBackground())
			f.step("Start", func() { started(f, m) })
		}},
	}
}
