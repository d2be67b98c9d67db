package curatorcertmagic_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	curatorcertmagic "github.com/go-curator/curator/recipes/adapters/certmagic"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// host is one process of a fleet.
type host struct {
	*testing.T
	client  *framework.Client
	network *suite.Network
	storage *curatorcertmagic.Storage
}

func newHost(t *testing.T, b *suite.Backend, opts ...framework.Option) *host {
	t.Helper()
	client, network := b.Client(t, opts...)
	storage, err := curatorcertmagic.NewStorage(client, b.Path("certmagic"))
	if err != nil {
		t.Fatal(err)
	}
	return &host{t, client, network, storage}
}

func (h *host) store(keys ...string) {
	h.Helper()
	for _, key := range keys {
		if err := h.storage.Store(h.Context(), key, []byte("value of "+key)); err != nil {
			h.Fatal(err)
		}
	}
}

func (h *host) wantValue(key, want string) {
	h.Helper()
	if got, err := h.storage.Load(h.Context(), key); err != nil || string(got) != want {
		h.Errorf("%s: %q, %v; want %q", key, got, err, want)
	}
}

func (h *host) wantList(prefix string, recursive bool, want ...string) {
	h.Helper()
	if got, err := h.storage.List(h.Context(), prefix, recursive); err != nil || !slices.Equal(got, want) {
		h.Errorf("list %q, recursive %t: %q, %v; want %q", prefix, recursive, got, err, want)
	}
}

// wantMissing sees that there is no such key, neither as a value nor as a directory.
func (h *host) wantMissing(key string) {
	h.Helper()
	value, loaded := h.storage.Load(h.Context(), key)
	_, stat := h.storage.Stat(h.Context(), key)
	_, listed := h.storage.List(h.Context(), key, true)
	for _, err := range []error{loaded, stat, listed} {
		if !errors.Is(err, fs.ErrNotExist) {
			h.Errorf("%s: %v, want fs.ErrNotExist", key, err)
		}
	}
	if value != nil || h.storage.Exists(h.Context(), key) {
		h.Errorf("%s: a value %q, or it exists", key, value)
	}
}

func (h *host) wantStat(key string, size int64, isTerminal bool) {
	h.Helper()
	info, err := h.storage.Stat(h.Context(), key)
	if err != nil || info.Key != key || info.Size != size || info.IsTerminal != isTerminal {
		h.Errorf("%s: %+v, %v; want size %d, terminal %t", key, info, err, size, isTerminal)
	}
	if age := time.Since(info.Modified); age < -time.Minute || age > time.Minute {
		h.Errorf("%s: modified %v ago", key, age)
	}
	if !h.storage.Exists(h.Context(), key) {
		h.Errorf("%s does not exist", key)
	}
}

func (h *host) delete(key string) {
	h.Helper()
	if err := h.storage.Delete(h.Context(), key); err != nil {
		h.Error(err)
	}
}

// What one host stores the other ones see, as certmagic.Storage says.
func TestStorage(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		one.wantMissing("acme")
		one.wantList("", true)
		one.delete("acme")
		one.store("acme/site/site.crt", "acme/site/site.key", "acme/other", "last_clean.json")
		other.wantValue("acme/site/site.key", "value of acme/site/site.key")
		other.wantStat("acme/other", int64(len("value of acme/other")), true)
		other.wantStat("acme/site", 0, false)
		other.wantList("", false, "acme", "last_clean.json")
		other.wantList("acme", false, "acme/other", "acme/site")
		other.wantList("acme", true, "acme/other", "acme/site", "acme/site/site.crt", "acme/site/site.key")
		other.wantList("acme/other", true)
		other.wantMissing("acme/sit")
		other.wantMissing("acme/other/below")
		if _, err := other.storage.Load(t.Context(), "acme/site"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the value of a directory: %v", err)
		}

		if err := other.storage.Store(t.Context(), "acme/other", nil); err != nil {
			t.Error(err)
		}
		one.wantStat("acme/other", 0, true)
		one.wantValue("acme/other", "")
		one.delete("acme/site/site.crt")
		other.wantMissing("acme/site/site.crt")
		other.wantList("acme/site", true, "acme/site/site.key")
		one.delete("acme")
		other.wantMissing("acme/site")
		other.wantMissing("acme/site/site.key")
		other.wantList("", true, "last_clean.json")
	})
}

// A key may have a value and be the prefix of others, in either order.
func TestValueAndPrefix(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		h.store("a", "a/b", "c/d", "c")
		for _, key := range []string{"a", "c"} {
			h.wantValue(key, "value of "+key)
			h.wantStat(key, 10, true)
		}
		h.wantList("", true, "a", "a/b", "c", "c/d")
		h.wantList("a", false, "a/b")
		h.delete("a/b")
		h.wantValue("a", "value of a")
		h.delete("c")
		h.wantMissing("c")
		h.wantMissing("c/d")
	})
}

// Directories without keys are removed by the server, as containers.
func TestEmptyDirectories(t *testing.T) {
	suite.EachReaping(t, suite.Everywhere, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		h.store("acme/site/site.crt", "acme/site/site")
		h.delete("acme/site/site.crt")
		h.wantList("acme/site", true, "acme/site/site")
		h.delete("acme/site/site")
		suite.Eventually(t, "the end of an empty directory", func() bool { return !h.storage.Exists(t.Context(), "acme") })
		h.wantMissing("acme/site")
		h.store("acme/site/site.crt")
	})
}

// Every valid key has a value of its own, and is listed as it was stored.
func TestKeys(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		keys := []string{
			"...", "@", "A", "a", "a%2Fb", "a b", "a+b", "a=", "a==/b", "b/...", "wildcard_.example.com", "a.holder", "x\x00y", "zookeeper", "ä/ö",
			strings.Repeat("long", 100),
		}
		h.store(keys...)
		for _, key := range keys {
			h.wantValue(key, "value of "+key)
		}
		want := slices.Sorted(slices.Values(append(keys, "a==", "b", "ä")))
		if got, err := h.storage.List(t.Context(), "", true); err != nil || !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		for _, foreign := range []string{"%zz", "%61%62"} { // the second one would be "ab"
			if _, err := h.client.Create().ForPath(t.Context(), b.Path("certmagic/keys/"+foreign)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := h.storage.List(t.Context(), "", true); err != nil || len(got) != len(want) {
			t.Errorf("with a foreign node: %q, %v", got, err)
		}

		for _, key := range []string{"", ".", "..", "/a", "a/", "a//b", "a/./b", "a/../b", "a\xff"} {
			_, loaded := h.storage.Load(t.Context(), key)
			_, stat := h.storage.Stat(t.Context(), key)
			errs := []error{loaded, stat, h.storage.Store(t.Context(), key, nil), h.storage.Delete(t.Context(), key)}
			if key != "" {
				_, listed := h.storage.List(t.Context(), key, true)
				errs = append(errs, listed)
			}
			for i, err := range errs {
				if !errors.Is(err, fs.ErrInvalid) {
					t.Errorf("key %q, call %d: %v, want fs.ErrInvalid", key, i, err)
				}
			}
			if h.storage.Exists(t.Context(), key) {
				t.Errorf("key %q exists", key)
			}
		}
	})
}

// Values may have any bytes, and their size is that of the value although the client compresses. A value
// that no server accepts is refused, and changes nothing.
func TestValues(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		h, plain := newHost(t, b, framework.WithCompression()), newHost(t, b)
		value := bytes.Repeat([]byte{0, 0xff}, 200_000)
		if err := h.storage.Store(t.Context(), "large", value); err != nil {
			t.Fatal(err)
		}
		plain.wantValue("large", string(value))
		h.wantValue("large", string(value))
		h.wantStat("large", 400_000, true)
		for _, key := range []string{"large", "new/key"} {
			err := h.storage.Store(t.Context(), key, make([]byte, 1<<20))
			var at *fs.PathError
			if !errors.Is(err, framework.ErrTooLarge) || !errors.As(err, &at) || at.Path != key {
				t.Errorf("%s: %v, want framework.ErrTooLarge", key, err)
			}
		}
		h.wantValue("large", string(value))
		h.wantMissing("new/key")
	})
}

// A Load beside Stores gets one of the values, as CertMagic's TestFileStorageStoreLoadRace wants.
func TestStoreLoadRace(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		a, z := bytes.Repeat([]byte("a"), 400_000), bytes.Repeat([]byte("z"), 400_000)
		if err := h.storage.Store(t.Context(), "key", a); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for _, value := range [][]byte{z, a, z} {
			group.Go(func() {
				if err := h.storage.Store(t.Context(), "key", value); err != nil {
					t.Error(err)
				}
			})
		}
		for range 5 {
			if got, err := h.storage.Load(t.Context(), "key"); err != nil || !bytes.Equal(got, a) && !bytes.Equal(got, z) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		}
		group.Wait()
	})
}

// A server that is behind shows what other hosts have stored and deleted, because it is made to sync first.
func TestServerBehind(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		one, other := newHost(t, b), newHost(t, b)
		one.store("a/old", "a/changed")
		other.wantMissing("a/new")
		other.wantValue("a/changed", "value of a/changed")
		other.wantValue("a/old", "value of a/old")
		other.wantList("a", true, "a/changed", "a/old")
		one.store("a/new")
		one.delete("a/old")
		if err := one.storage.Store(t.Context(), "a/changed", []byte("changed")); err != nil {
			t.Fatal(err)
		}
		for _, look := range []func(){
			func() { other.wantValue("a/changed", "changed") },
			func() { other.wantStat("a/new", 14, true) },
			func() { other.wantMissing("a/old") },
			func() { other.wantList("a", true, "a/changed", "a/new") },
		} {
			other.network.FallBehind()
			look()
		}
	})
}

// A Store and a Delete whose replies are lost succeed.
func TestLostReplies(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		h.store("a/b")
		for _, op := range []string{"create", "setData", "delete"} {
			hit := b.Server().Inject(curatortest.Rule{Op: op, Do: curatortest.CutAfter()})
			h.store("a/c", "a/b")
			h.wantValue("a/c", "value of a/c")
			h.delete("a/c")
			h.wantMissing("a/c")
			if !hit() {
				t.Errorf("no %s was sent", op)
			}
		}
	})
}

// Calls end with their contexts, and after the end of the client.
func TestContexts(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		h := newHost(t, b)
		h.store("a/b")
		calls := map[string]func(ctx context.Context) error{
			"Store":          func(ctx context.Context) error { return h.storage.Store(ctx, "a/b", nil) },
			"Load":           func(ctx context.Context) error { _, err := h.storage.Load(ctx, "a/b"); return err },
			"Delete":         func(ctx context.Context) error { return h.storage.Delete(ctx, "a/b") },
			"Stat":           func(ctx context.Context) error { _, err := h.storage.Stat(ctx, "a/b"); return err },
			"List":           func(ctx context.Context) error { _, err := h.storage.List(ctx, "", true); return err },
			"Lock":           func(ctx context.Context) error { return h.storage.Lock(ctx, "name") },
			"TryLock":        func(ctx context.Context) error { _, err := h.storage.TryLock(ctx, "name"); return err },
			"Unlock":         func(ctx context.Context) error { return h.storage.Unlock(ctx, "name") },
			"RenewLockLease": func(ctx context.Context) error { return h.storage.RenewLockLease(ctx, "name", time.Minute) },
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		wantAll := func(ctx context.Context, when string, want error) {
			t.Helper()
			for name, call := range calls {
				isUnlock := name == "Unlock" || name == "RenewLockLease" // of a lock that is not held
				err := call(ctx)
				if !errors.Is(err, want) && !(isUnlock && errors.Is(err, locks.ErrNotHeld)) {
					t.Errorf("%s, %s: %v, want %v", name, when, err, want)
				}
			}
		}
		var none context.Context
		wantAll(none, "without a context", framework.ErrInvalidOption)
		wantAll(ended, "with an ended context", context.Canceled)
		if h.storage.Exists(ended, "a/b") {
			t.Error("Exists is true without an answer")
		}
		heal := h.network.Isolate()
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		wantAll(short, "without a connection", context.DeadlineExceeded)
		heal()
		h.wantValue("a/b", "value of a/b")
		if err := h.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantAll(t.Context(), "after Close", framework.ErrClosed)
		for _, h.storage = range []*curatorcertmagic.Storage{nil, {}} {
			wantAll(t.Context(), "of no storage", framework.ErrNotStarted)
			if h.storage.Exists(t.Context(), "a") || h.storage.String() != "ZooKeeper:" {
				t.Error("no storage has a key, or a path")
			}
		}
	})
}

func TestMisuse(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		ok := curatorcertmagic.WithLockOptions(locks.WithName("certmagic"))
		for name, tt := range map[string]struct {
			client *framework.Client
			path   string
			option curatorcertmagic.Option
			want   error
		}{
			"nil client":     {nil, "/certmagic", ok, framework.ErrNotStarted},
			"path":           {client, "certmagic/", ok, framework.ErrInvalidPath},
			"nil option":     {client, "/certmagic", nil, framework.ErrInvalidOption},
			"no ACL":         {client, "/certmagic", curatorcertmagic.WithACL(), framework.ErrInvalidACL},
			"bad ACL":        {client, "/certmagic", curatorcertmagic.WithACL(framework.ACL{Perms: framework.PermAll}), framework.ErrInvalidACL},
			"option of lock": {client, "/certmagic", curatorcertmagic.WithLockOptions(locks.WithMaxWait(-1)), framework.ErrInvalidOption},
		} {
			if s, err := curatorcertmagic.NewStorage(tt.client, tt.path, tt.option); s != nil || !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		s, err := curatorcertmagic.NewStorage(client, "/certmagic", ok)
		if err != nil || s.String() != "ZooKeeper:/certmagic/keys" {
			t.Errorf("%v, %v", s, err)
		}
	})
}
