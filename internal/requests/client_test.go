package requests_test

import (
	"context"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/retry"
)

// clientCases are those of a client, of its options and of its views.
func clientCases() []tableCase {
	return slices.Concat(clientOptionCases(), connectionCases(), namespaceCases())
}

func clientOptionCases() []tableCase {
	// with is the life of a client with an option: it starts, creates a node, reads it, is cut off, and ends.
	with := func(op, row string, opts ...framework.Option) tableCase {
		return tableCase{"framework: " + op, row, func(f *fixture) {
			var c *framework.Client
			f.step("Start", func() { c = f.newClient("new", opts...) })
			f.step("a create", func() { f.must(c.Create().ForPath(f.Context(), "/x")) })
			f.step("a create with parents", func() { f.must(c.Create().CreatingParentContainersIfNeeded().ForPath(f.Context(), "/a/x")) })
			f.step("a read", func() { f.must(c.GetData().ForPath(f.Context(), "/x")) })
			f.unordered("the connection is cut", func() { f.server.DisconnectSession(c.SessionID()) })
			f.step("Close", func() { f.ok(c.Close(f.Context())) })
		}}
	}
	read := framework.ACL{Perms: framework.PermRead | framework.PermCreate, Scheme: "world", ID: "anyone"}
	schemas, _ := schema.NewSet(nil, true) // there is nothing to be refused
	return []tableCase{
		with("NewClient", "no options"),
		with("WithAuthorization", "digest", framework.WithAuthorization("digest", []byte("a:b"))),
		with("WithCompression", "all", framework.WithCompression()),
		with("WithNamespace", "not there yet", framework.WithNamespace("ns")),
		with("WithoutContainerParents", "all", framework.WithoutContainerParents()),
		with("WithACLProvider", "all", framework.WithACLProvider(acls{read})),
		with("WithDefaultACL", "all", framework.WithDefaultACL(read)),
		proofs("NewClient"),
		proofs("WithSyncProof", framework.WithSyncProof()),
		with("WithReadOnly", "idle", framework.WithReadOnly()),
		with("WithCircuitBreaker", "idle", framework.WithCircuitBreaker(retry.Forever(time.Second))),
		with("WithSchemaSet", "which permits everything", framework.WithSchemaSet(schemas)),
	}
}

// connectionCases are of what a client does about its connection and its session.
func connectionCases() []tableCase {
	return []tableCase{
		{"framework: (*Client) Start", "with the ensemble tracker", func(f *fixture) {
			var c *framework.Client
			f.step("Start", func() { c = f.trackingClient("new") })
			f.unordered("the connection is cut", func() { f.server.DisconnectSession(c.SessionID()) })
			f.step("Close", func() { f.ok(c.Close(f.Context())) })
		}},
		{"framework: (*Client) AddAuth", "cut behind it", func(f *fixture) {
			f.ok(f.client.AddAuth(f.Context(), "digest", []byte("a:b")))
			f.cut()
			f.expire()
		}},
		{"framework: (*Client) BlockUntilConnected", "idle", func(f *fixture) {
			f.step("call", func() { f.ok(f.client.BlockUntilConnected(f.Context())) })
			f.cut()
			f.expire()
			f.step("call", func() { f.ok(f.client.BlockUntilConnected(f.Context())) })
		}},
		{"framework: (DeleteBuilder) Guaranteed", "no server for some time", func(f *fixture) {
			f.withNodes()
			var accept func()
			f.step("a call that gives up", func() {
				accept = f.server.Refuse()
				f.server.DisconnectSession(f.client.SessionID())
				settle()
				ctx, cancel := context.WithTimeout(f.Context(), pause/2)
				defer cancel()
				if f.client.Delete().Guaranteed().ForPath(ctx, "/node") == nil {
					f.Error("no error")
				}
			})
			f.step("the server is back", func() { accept(); settle() })
		}},
		{"framework: (*Client) Close", "a guaranteed delete has failed", func(f *fixture) {
			f.withNodes()
			f.step("a delete with a context that has ended", func() {
				ctx, cancel := context.WithCancel(f.Context())
				cancel()
				if f.client.Delete().Guaranteed().ForPath(ctx, "/node") == nil {
					f.Error("no error")
				}
			})
			f.step("Close", func() { f.ok(f.client.Close(f.Context())) })
		}},
	}
}

func namespaceCases() []tableCase {
	var all []tableCase
	view := func(row string, call func(ctx context.Context, c *framework.Client) error) {
		all = append(all, callOf("framework: (*Client) UsingNamespace", row, "create", func(f *fixture) error {
			return call(f.Context(), f.client.UsingNamespace("parent/ns"))
		})...)
	}
	view("create", func(ctx context.Context, c *framework.Client) error { return value(c.Create().ForPath(ctx, "/x")) })
	view("create with parents", func(ctx context.Context, c *framework.Client) error {
		return value(c.Create().CreatingParentsIfNeeded().ForPath(ctx, "/a/x"))
	})
	return append(all, tableCase{"framework: (*Client) UsingNamespace", "twice", func(f *fixture) {
		f.withNodes()
		c := f.client.UsingNamespace("parent")
		f.step("exists", func() { f.must(c.CheckExists().ForPath(f.Context(), "/child")) })
		f.step("children", func() { f.must(c.GetChildren().ForPath(f.Context(), "/")) })
	}})
}

// acls is an ACL provider with one ACL.
type acls []framework.ACL

func (a acls) ACLForPath(string) []framework.ACL { return a }

// proofs holds a lock until the session must be proved.
func proofs(op string, opts ...framework.Option) tableCase {
	return tableCase{"framework: " + op, "a lock is held for half of the session's timeout", func(f *fixture) {
		f.reopen(opts...)
		lease := f.held(mutex(f, f.client))
		f.step("the time passes", func() { time.Sleep(timeout / 2); settle() })
		f.step("Release", func() { f.release(lease) })
	}}
}
