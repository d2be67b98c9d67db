package migration_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// env is what a test of the document's Go has.
type env struct {
	*testing.T
	server *curatortest.Server
	client *framework.Client
}

// topic is a part of the document: it is run on a server that has the nodes, must succeed, and is
// checked.
type topic struct {
	name  string
	nodes []string
	do    func(ctx context.Context, client *framework.Client) error
	check func(e env)
}

// topics are the parts of the document, but for those of other files.
var topics = []topic{
	{"connect", nil, func(ctx context.Context, _ *framework.Client) error {
		run = func(ctx context.Context, client *framework.Client) error {
			called <- "run"
			return client.BlockUntilConnected(ctx)
		}
		return connect(ctx)
	}, wantCalls("run")},
	{"until connected", nil, untilConnected, nil},
	{"create", nil, create, wantNode("/jobs/new/job-0000000000", "data")},
	{"protected", nil, protected, func(e env) {
		if names := e.server.Children("/workers"); len(names) != 0 {
			e.Errorf("left over: %q", names)
		}
	}},
	{"defaults", nil, defaults, func(e env) {
		wantNode("/address", string(e.client.DefaultData()))(e)
		wantNode("/empty", string(e.client.DefaultData()))(e)
	}},
	{"compare and set", []string{"/config"}, compareAndSet, wantNode("/config", "data")},
	{"compare and set, too late", []string{"/config"}, func(ctx context.Context, client *framework.Client) error {
		if err := compareAndSet(ctx, client); err != nil {
			return err
		}
		return compareAndSet(ctx, client)
	}, wantCalls("conflict")},
	{"remove", []string{"/jobs", "/jobs/7", "/jobs/7/log"}, remove, wantNone("/jobs/7")},
	{"exists", []string{"/config"}, exists, nil},
	{"read", []string{"/config"}, read, nil},
	{"read nothing", nil, read, nil},
	{"children", []string{"/workers", "/workers/1"}, children, nil},
	{"watch once", []string{"/config"}, func(ctx context.Context, client *framework.Client) error {
		if err := watchOnce(ctx, client); err != nil {
			return err
		}
		_, err := client.SetData().ForPath(ctx, "/config", data)
		return err
	}, wantCalls("reload /config")},
	{"watch a tree", []string{"/workers"}, func(ctx context.Context, client *framework.Client) error {
		run = func(ctx context.Context, client *framework.Client) error {
			_, err := client.Create().ForPath(ctx, "/workers/1")
			if err != nil {
				return err
			}
			return await(ctx, "reload /workers/1")
		}
		return watchTree(ctx, client)
	}, func(e env) {
		if n := e.server.Watches(); n != 0 {
			e.Errorf("%d watches are left", n)
		}
	}},
	{"transaction", []string{"/config", "/jobs", "/jobs/8", "/last"}, transaction, func(e env) {
		wantNode("/jobs/9", "data")(e)
		wantNode("/last", "9")(e)
		wantNone("/jobs/8")(e)
	}},
	{"background", []string{"/config"}, background, wantCalls("use old")},
	{"namespace", nil, namespace, func(e env) {
		wantNode("/team-a/config", string(e.client.DefaultData()))(e)
	}},
	{"retried", nil, func(ctx context.Context, _ *framework.Client) error {
		for _, policy := range policies() {
			if err := retry.Validate(policy); err != nil {
				return err
			}
		}
		return retried(ctx, retry.None())
	}, wantCalls("call")},
	{"secured", nil, func(ctx context.Context, _ *framework.Client) error { return secured(ctx) }, func(e env) {
		acl, err := e.client.GetACL().ForPath(e.Context(), "/private")
		if err == nil {
			e.Errorf("everybody may read the ACL: %v", acl)
		}
	}},
	{"short-lived", nil, shortLived, func(e env) {
		wantNode("/offer", string(e.client.DefaultData()))(e)
		wantNode("/room", string(e.client.DefaultData()))(e)
	}},
	{"mutex", nil, mutex, wantCalls("work")},
	{"mutex by hand", nil, mutexByHand, wantCalls("work")},
	{"re-entry", nil, func(ctx context.Context, client *framework.Client) error {
		mutex, err := locks.NewInterProcessMutex(client, "/locks/orders")
		if err != nil {
			return err
		}
		return reentry(ctx, mutex)
	}, wantCalls("work")},
	{"timed", nil, timed, wantCalls("work")},
	{"read-write lock", nil, readWrite, wantCalls("change", "publish")},
	{"semaphore", nil, semaphore, wantCalls("export")},
	{"latch", nil, latch, wantCalls("work")},
	{"selector", nil, selectorUntilStopped, wantCalls()},
	{"shared count", nil, func(ctx context.Context, client *framework.Client) error {
		run = func(ctx context.Context, _ *framework.Client) error { return await(ctx, "resize") }
		return sharedCount(ctx, client)
	}, wantNode("/limits/workers", "\x00\x00\x00\x05")},
	{"counter", nil, func(ctx context.Context, client *framework.Client) error {
		if n, err := counter(ctx, client); n != 1 || err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
		return nil
	}, wantNode("/counters/orders", "\x00\x00\x00\x00\x00\x00\x00\x01")},
	{"barrier", nil, barrier, wantNone("/maintenance")},
	{"double barrier", nil, doubleBarrier, wantCalls("export")},
	{"traced", nil, func(ctx context.Context, _ *framework.Client) error { return traced(ctx) }, func(e env) {
		for _, span := range spans.Ended() {
			if span.Name() == "curator.lock.acquire" {
				return
			}
		}
		e.Errorf("%d spans, none of an acquire", len(spans.Ended()))
	}},
	{"tasks", nil, func(ctx context.Context, client *framework.Client) error {
		return until(ctx, func(ctx context.Context) error { return tasks(ctx, client) }, func() {}, "work")
	}, wantCalls()},
	{"timers", nil, timers, nil},
	{"typed nodes", nil, typed, func(e env) {
		wantCalls("use soap")(e)
		wantNode("/orders/ann/7", `{"item":"soap","count":1}`)(e)
	}},
	{"migrations", nil, migrate, wantNode("/shop/layout", "v2")},
	{"services", nil, services, wantCalls("use north")},
	{"priorities", nil, func(ctx context.Context, client *framework.Client) error {
		return until(ctx, func(ctx context.Context) error { return priorities(ctx, client) }, func() {}, "work", "work", "work")
	}, wantCalls()},
	{"revoked", nil, revokedOnce, nil},
	{"interrupted", nil, interrupted, wantCalls("pause", "work")},
	{"one try", nil, triedOnce, wantCalls("resize")},
	{"found services", nil, found, nil},
	{"simple queue", nil, simpleQueue, wantCalls("use data")},
	{"kept node", nil, func(ctx context.Context, client *framework.Client) error {
		run = func(ctx context.Context, client *framework.Client) error {
			data, err := client.GetData().ForPath(ctx, "/addresses/store")
			use(data)
			return err
		}
		return kept(ctx, client)
	}, func(e env) {
		wantCalls("use data")(e)
		wantNone("/addresses/store")(e)
	}},
	{"member of a group", nil, member, wantCalls("use data")},
	{"persistent watcher", nil, func(ctx context.Context, client *framework.Client) error {
		run = func(ctx context.Context, client *framework.Client) error {
			if _, err := client.Create().ForPath(ctx, "/orders"); err != nil {
				return err
			}
			return await(ctx, "reload /orders")
		}
		return persistentWatcher(ctx, client)
	}, nil},
}

func TestTopics(t *testing.T) { runTopics(t, slices.Concat(topics, cacheTopics, optionTopics)) }

// runTopics runs each part on a server of its own.
func runTopics(t *testing.T, topics []topic) {
	t.Helper()
	for _, topic := range topics {
		t.Run(topic.name, func(t *testing.T) {
			e := newEnv(t)
			for _, path := range topic.nodes {
				if _, err := e.client.Create().WithData([]byte("old")).ForPath(t.Context(), path); err != nil {
					t.Fatal(err)
				}
			}
			if err := topic.do(t.Context(), e.client); err != nil {
				t.Fatal(err)
			}
			if topic.check != nil {
				topic.check(e)
			}
		})
	}
}

// A listener hears of a connection that is lost and comes back.
func TestListener(t *testing.T) {
	e := newEnv(t)
	if err := e.client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	run = func(ctx context.Context, _ *framework.Client) error {
		e.server.Disconnect()
		return await(ctx, "pause", "resume")
	}
	if err := listener(t.Context(), e.client); err != nil {
		t.Error(err)
	}
}

func newEnv(t *testing.T) env {
	t.Helper()
	server := curatortest.Start(t)
	connectString = server.ConnectString()
	called = make(chan string, cap(called))
	return env{t, server, server.Client(t)}
}

// await waits until these are called, one after the other.
func await(ctx context.Context, want ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, name := range want {
		select {
		case got := <-called:
			if got != name {
				return fmt.Errorf("called %q, want %q", got, name)
			}
		case <-ctx.Done():
			return fmt.Errorf("%q was not called", name)
		}
	}
	return nil
}

func wantCalls(want ...string) func(e env) {
	return func(e env) {
		e.Helper()
		if err := await(e.Context(), want...); err != nil {
			e.Error(err)
		}
		if n := len(called); n > 0 {
			e.Errorf("%d calls more", n)
		}
	}
}

func wantNode(path, data string) func(e env) {
	return func(e env) {
		e.Helper()
		if got, ok := e.server.Get(path); !ok || string(got) != data {
			e.Errorf("%s has %q, %t, want %q", path, got, ok, data)
		}
	}
}

func wantNone(path string) func(e env) {
	return func(e env) {
		e.Helper()
		if _, ok := e.server.Get(path); ok {
			e.Errorf("%s is there", path)
		}
	}
}
