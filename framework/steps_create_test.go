package framework_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

var createSteps = map[string]check{
	"Create":                                  testCreate,
	"Create/WithMode":                         testCreateWithMode,
	"Create/WithData":                         testCreateWithData,
	"Create/CreatingParentsIfNeeded":          testCreateParents,
	"Create/CreatingParentContainersIfNeeded": testCreateContainers,
	"Create/WithProtection":                   testCreateProtection,
	"Create/WithACL":                          testCreateACL,
	"Create/WithACLOnParents":                 testCreateACLOnParents,
	"Create/StoringStatIn": func(t bench) {
		var stat framework.Stat
		_, err := t.c.Create().StoringStatIn(&stat).WithData([]byte("abc")).ForPath(t.Context(), t.path)
		t.ok(err)
		if stat != t.stat(t.path) || stat.DataLength != 3 || stat.Czxid == 0 {
			t.Fatalf("stat %+v", stat)
		}
	},
	"Create/WithTTL":          testCreateTTL,
	"Create/OrSetData":        testCreateOrSetData,
	"Create/OrSetDataVersion": testCreateOrSetDataVersion,
	"Create/Idempotent":       testCreateIdempotent,
	"Create/Compressed":       testCreateCompressed,
	"Create/Uncompressed":     testCreateUncompressed,
}

// TestShortTTL shows that nodes go after their time.
func testCreateTTL(t bench) {
	const ttl = time.Hour
	for _, mode := range []framework.CreateMode{framework.PersistentWithTTL, framework.PersistentSequentialWithTTL} {
		path, err := t.c.Create().WithMode(mode).WithTTL(ttl).ForPath(t.Context(), t.path)
		t.ok(err)
		if (path == t.path) == (mode == framework.PersistentSequentialWithTTL) {
			t.Fatalf("mode %d: path %q", mode, path)
		}
	}
	for _, wrong := range []framework.CreateBuilder{
		t.c.Create().WithMode(framework.PersistentWithTTL),
		t.c.Create().WithTTL(ttl),
		t.c.Create().WithTTL(ttl).WithMode(framework.Ephemeral),
		t.c.Create().WithTTL(0).WithMode(framework.PersistentWithTTL),
		t.c.Create().WithTTL(time.Second + time.Nanosecond).WithMode(framework.PersistentWithTTL),
		t.c.Create().WithTTL(1 << 40 * time.Millisecond).WithMode(framework.PersistentWithTTL),
	} {
		_, err := wrong.ForPath(t.Context(), t.path+"x")
		t.want(err, framework.ErrInvalidBuilder)
	}
	_, err := t.c.Create().WithTTL((1<<40-1)*time.Millisecond).WithMode(framework.PersistentWithTTL).ForPath(t.Context(), t.path+"x")
	t.ok(err)
}

func testCreateOrSetData(t bench) {
	set := t.c.Create().OrSetData()
	var stat framework.Stat
	for version, data := range []string{"first", "second", "third"} {
		path, err := set.WithData([]byte(data)).StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if err != nil || path != t.path || stat != t.stat(t.path) || stat.Version != int32(version) || t.data(t.path) != data {
			t.Fatalf("%q, %v, %+v, %q", path, err, stat, t.data(t.path))
		}
	}
	// The node goes after it was seen, and before its data is set.
	other, _ := t.b.Client(t.T)
	hit := t.network.On(jute.OpSetData, suite.Late, func() {
		if err := other.Delete().ForPath(t.Context(), t.path); err != nil {
			t.Error(err)
		}
	})
	_, err := set.WithData([]byte("new")).ForPath(t.Context(), t.path)
	t.ok(err)
	if <-hit; t.data(t.path) != "new" || t.stat(t.path).Version != 0 {
		t.Fatalf("%q, %+v", t.data(t.path), t.stat(t.path))
	}
	// The reply is lost, of the create and of the set.
	t.network.On(jute.OpSetData, suite.CutAfter, nil)
	_, err = set.WithData([]byte("again")).ForPath(t.Context(), t.path)
	t.ok(err)
	t.network.On(jute.OpCreate2, suite.CutAfter, nil)
	_, err = set.CreatingParentsIfNeeded().WithData([]byte("deep")).ForPath(t.Context(), t.path+"/a/b")
	t.ok(err)
	if t.data(t.path) != "again" || t.data(t.path+"/a/b") != "deep" {
		t.Fatalf("%q, %q", t.data(t.path), t.data(t.path+"/a/b"))
	}
	// Without parents it is no more than a create.
	_, err = set.ForPath(t.Context(), t.path+"/none/x")
	t.want(err, framework.ErrNoNode)
	_, err = set.WithMode(framework.EphemeralSequential).ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
	_, err = set.WithProtection().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
}

func testCreateOrSetDataVersion(t bench) {
	t.create(t.path)
	create := t.c.Create().WithData([]byte("new"))
	_, err := create.OrSetDataVersion(1).ForPath(t.Context(), t.path)
	if t.want(err, framework.ErrBadVersion); t.data(t.path) != "test" {
		t.Fatalf("data %q", t.data(t.path))
	}
	_, err = create.OrSetDataVersion(0).ForPath(t.Context(), t.path)
	if t.ok(err); t.data(t.path) != "new" {
		t.Fatalf("data %q", t.data(t.path))
	}
	_, err = create.OrSetDataVersion(7).ForPath(t.Context(), t.path+"missing")
	t.ok(err)
	_, err = create.OrSetDataVersion(-2).ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
	// For one version it cannot be repeated: the second time it would be another.
	t.network.On(jute.OpSetData, suite.CutAfter, nil)
	_, err = create.OrSetDataVersion(1).ForPath(t.Context(), t.path)
	if t.want(err, framework.ErrConnectionLoss); !framework.MaybeApplied(err) || t.stat(t.path).Version != 2 {
		t.Fatalf("%v, %+v", err, t.stat(t.path))
	}
	t.network.On(jute.OpSetData, suite.CutAfter, nil) // but together with Idempotent
	_, err = create.OrSetDataVersion(2).Idempotent().ForPath(t.Context(), t.path)
	if t.ok(err); t.stat(t.path).Version != 3 {
		t.Fatalf("%+v", t.stat(t.path))
	}
}

func testCreateIdempotent(t bench) {
	create := t.c.Create().Idempotent().WithData([]byte("same"))
	var stat framework.Stat
	for i, lost := range []struct {
		op   jute.Op
		fate suite.Fate
	}{
		{jute.OpCreate2, suite.CutAfter}, {jute.OpCreate2, suite.CutBefore}, // what the server holds
		{jute.OpGetData, suite.CutBefore}, {jute.OpGetData, suite.CutAfter}, // the look at it
	} {
		hit := t.network.On(lost.op, lost.fate, nil)
		path, err := create.StoringStatIn(&stat).ForPath(t.Context(), t.path)
		if err != nil || path != t.path || stat != t.stat(t.path) || stat.Version != 0 {
			t.Fatalf("%d: %q, %v, %+v", i, path, err, stat)
		}
		<-hit
	}
	_, err := create.WithData([]byte("other")).ForPath(t.Context(), t.path)
	t.want(err, framework.ErrNodeExists)
	t.set(t.path, "same") // version 1: somebody wrote it
	_, err = create.ForPath(t.Context(), t.path)
	t.want(err, framework.ErrNodeExists)
	// An ephemeral node is taken for ours only if it is.
	other, _ := t.b.Client(t.T)
	create = create.WithMode(framework.Ephemeral)
	for _, made := range []struct {
		by   *framework.Client
		want error
	}{{t.c, nil}, {other, framework.ErrNodeExists}} {
		path := fmt.Sprint(t.path, made.want != nil)
		if _, err := made.by.Create().WithMode(framework.Ephemeral).WithData([]byte("same")).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if _, err := create.ForPath(t.Context(), path); !errors.Is(err, made.want) {
			t.Errorf("an ephemeral node: %v, want %v", err, made.want)
		}
	}
	create = create.WithMode(framework.Persistent)
	// One lost, and another one's node in the way then: it may have been applied before.
	t.network.On(jute.OpCreate2, suite.CutAfter, func() {
		_, err := other.SetData().ForPath(t.Context(), t.path+"x", []byte("other"))
		if err != nil {
			t.Error(err)
		}
	})
	_, err = create.ForPath(t.Context(), t.path+"x")
	if t.want(err, framework.ErrNodeExists); !framework.MaybeApplied(err) {
		t.Fatalf("%v: it was", err)
	}
	_, err = create.WithMode(framework.PersistentSequential).ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
	_, err = create.WithProtection().ForPath(t.Context(), t.path)
	t.want(err, framework.ErrInvalidBuilder)
}

const gzipMagic = "\x1f\x8b"

func testCreateCompressed(t bench) {
	long := strings.Repeat("x", 1000)
	var stat framework.Stat
	_, err := t.c.Create().Compressed().WithData([]byte(long)).StoringStatIn(&stat).ForPath(t.Context(), t.path)
	t.ok(err)
	stored := t.data(t.path)
	if !strings.HasPrefix(stored, gzipMagic) || len(stored) > 100 || int(stat.DataLength) != len(stored) {
		t.Fatalf("%q, %+v", stored, stat)
	}
	data, err := t.c.GetData().Decompressed().ForPath(t.Context(), t.path)
	if err != nil || string(data) != long {
		t.Fatalf("%q, %v", data, err)
	}
	_, err = t.c.Create().Compressed().ForPath(t.Context(), t.path+"default") // the default data, too
	if t.ok(err); !strings.HasPrefix(t.data(t.path+"default"), gzipMagic) {
		t.Fatalf("%q", t.data(t.path+"default"))
	}
	// What cannot be compressed is not sent.
	broken, network := t.b.Client(t.T, framework.WithCompressionProvider(brokenProvider{}))
	_, err = broken.Create().Compressed().ForPath(t.Context(), t.path+"x")
	if t.want(err, errBroken); network.Requests(jute.OpCreate2) != 0 {
		t.Fatal("it was sent")
	}
}

func testCreateUncompressed(t bench) {
	packing, _ := t.b.Client(t.T, framework.WithCompression())
	_, err := packing.Create().WithData([]byte("abc")).ForPath(t.Context(), t.path)
	if t.ok(err); !strings.HasPrefix(t.data(t.path), gzipMagic) {
		t.Fatalf("%q", t.data(t.path))
	}
	_, err = packing.Create().Uncompressed().WithData([]byte("abc")).ForPath(t.Context(), t.path+"x")
	if t.ok(err); t.data(t.path+"x") != "abc" {
		t.Fatalf("%q", t.data(t.path+"x"))
	}
	_, err = t.c.Create().Uncompressed().Compressed().ForPath(t.Context(), t.path+"y")
	t.want(err, framework.ErrInvalidBuilder)
}

var errBroken = errors.New("broken")

// brokenProvider compresses nothing.
type brokenProvider struct{}

func (brokenProvider) Compress(string, []byte) ([]byte, error)   { return nil, errBroken }
func (brokenProvider) Decompress(string, []byte) ([]byte, error) { return nil, errBroken }
