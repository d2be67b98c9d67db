package framework_test

import (
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

var writeSteps = map[string]check{
	"Delete":                          testDelete,
	"Delete/WithVersion":              testDeleteWithVersion,
	"Delete/Guaranteed":               testDeleteGuaranteed,
	"Delete/DeletingChildrenIfNeeded": testDeleteChildren,
	"Delete/Quietly": func(t bench) {
		t.ok(t.c.Delete().Quietly().ForPath(t.Context(), t.path))
	},
	"SetData": func(t bench) {
		_, err := t.c.SetData().ForPath(t.Context(), t.path, nil)
		t.want(err, framework.ErrNoNode)
		t.create(t.path)
		stat, err := t.c.SetData().ForPath(t.Context(), t.path, []byte("new"))
		if err != nil || stat.Version != 1 || stat != t.stat(t.path) {
			t.Fatalf("%+v, %v", stat, err)
		}
		if _, err := t.c.SetData().ForPath(t.Context(), t.path, nil); err != nil || t.stat(t.path).DataLength != 0 {
			t.Fatalf("nil does not empty the node: %v", err)
		}
	},
	"SetData/WithVersion": func(t bench) {
		t.create(t.path)
		for want := range int32(3) {
			_, err := t.c.SetData().WithVersion(want+1).ForPath(t.Context(), t.path, nil)
			t.want(err, framework.ErrBadVersion)
			_, err = t.c.SetData().WithVersion(want).ForPath(t.Context(), t.path, nil)
			t.ok(err)
		}
		_, err := t.c.SetData().WithVersion(-2).ForPath(t.Context(), t.path, nil)
		t.want(err, framework.ErrInvalidBuilder)
	},
	"SetData/Idempotent":   testSetDataIdempotent,
	"SetData/Compressed":   testSetDataCompressed,
	"SetData/Uncompressed": testSetDataUncompressed,
	"SetACL":               testSetACL,
	"SetACL/WithVersion":   testSetACLWithVersion,
}

func testSetDataIdempotent(t bench) {
	t.create(t.path)
	set := t.c.SetData().Idempotent()
	for version := range int32(2) { // the reply is lost, and then the look at what became of it
		lost := []jute.Op{jute.OpSetData, jute.OpGetData}[version]
		if lost == jute.OpGetData {
			t.network.On(jute.OpSetData, suite.CutAfter, nil)
		}
		hit := t.network.On(lost, suite.CutAfter, nil)
		stat, err := set.WithVersion(version).ForPath(t.Context(), t.path, []byte("new"))
		if err != nil || stat.Version != version+1 || stat != t.stat(t.path) {
			t.Fatalf("version %d: %v, %+v", version, err, stat)
		}
		<-hit
	}
	// The same again is no other write, different data is.
	stat, err := set.WithVersion(1).ForPath(t.Context(), t.path, []byte("new"))
	if err != nil || stat.Version != 2 {
		t.Fatalf("%v, %+v", err, stat)
	}
	_, err = set.WithVersion(1).ForPath(t.Context(), t.path, []byte("other"))
	t.want(err, framework.ErrBadVersion)
	_, err = set.WithVersion(0).ForPath(t.Context(), t.path, []byte("new"))
	t.want(err, framework.ErrBadVersion)
	// Without a version it is done again.
	t.network.On(jute.OpSetData, suite.CutAfter, nil)
	stat, err = set.ForPath(t.Context(), t.path, []byte("late"))
	if err != nil || stat.Version != 4 {
		t.Fatalf("%v, %+v", err, stat)
	}
	// Without the step it is not.
	t.network.On(jute.OpSetData, suite.CutAfter, nil)
	_, err = t.c.SetData().WithVersion(4).ForPath(t.Context(), t.path, nil)
	if t.want(err, framework.ErrConnectionLoss); !framework.MaybeApplied(err) || t.stat(t.path).Version != 5 {
		t.Fatalf("%v, %+v", err, t.stat(t.path))
	}
}

func testSetDataCompressed(t bench) {
	t.create(t.path)
	long := strings.Repeat("x", 1000)
	stat, err := t.c.SetData().Compressed().ForPath(t.Context(), t.path, []byte(long))
	if t.ok(err); !strings.HasPrefix(t.data(t.path), gzipMagic) || int(stat.DataLength) != len(t.data(t.path)) {
		t.Fatalf("%q, %+v", t.data(t.path), stat)
	}
	// Repeated, what is compared is what was sent.
	t.network.On(jute.OpSetData, suite.CutAfter, nil)
	_, err = t.c.SetData().Compressed().Idempotent().WithVersion(1).ForPath(t.Context(), t.path, []byte(long))
	t.ok(err)
	broken, network := t.b.Client(t.T, framework.WithCompressionProvider(brokenProvider{}))
	_, err = broken.SetData().Compressed().ForPath(t.Context(), t.path, nil)
	if t.want(err, errBroken); network.Requests(jute.OpSetData) != 0 {
		t.Fatal("it was sent")
	}
}

func testSetDataUncompressed(t bench) {
	t.create(t.path)
	packing, _ := t.b.Client(t.T, framework.WithCompression())
	_, err := packing.SetData().ForPath(t.Context(), t.path, []byte("abc"))
	if t.ok(err); !strings.HasPrefix(t.data(t.path), gzipMagic) {
		t.Fatalf("%q", t.data(t.path))
	}
	_, err = packing.SetData().Uncompressed().ForPath(t.Context(), t.path, []byte("abc"))
	if t.ok(err); t.data(t.path) != "abc" {
		t.Fatalf("%q", t.data(t.path))
	}
	_, err = packing.SetData().Uncompressed().Compressed().ForPath(t.Context(), t.path, nil)
	t.want(err, framework.ErrInvalidBuilder)
}

var readOnly = []framework.ACL{{Perms: framework.PermRead | framework.PermAdmin, Scheme: "world", ID: "anyone"}}

func testSetACL(t bench) {
	_, err := t.c.SetACL().ForPath(t.Context(), t.path, readOnly)
	t.want(err, framework.ErrNoNode)
	t.create(t.path)
	stat, err := t.c.SetACL().ForPath(t.Context(), t.path, readOnly)
	if err != nil || stat.Aversion != 1 || stat != t.stat(t.path) {
		t.Fatalf("%v, %+v", err, stat)
	}
	_, err = t.c.SetData().ForPath(t.Context(), t.path, nil)
	t.want(err, framework.ErrNoAuth)
	_, err = t.c.SetACL().ForPath(t.Context(), t.path, nil)
	t.want(err, framework.ErrInvalidACL)
	_, err = t.c.SetACL().ForPath(t.Context(), t.path, []framework.ACL{{Perms: framework.PermAll, Scheme: "none", ID: "x"}})
	t.want(err, framework.ErrInvalidACL)
	t.network.On(jute.OpSetACL, suite.CutAfter, nil)
	_, err = t.c.SetACL().ForPath(t.Context(), t.path, framework.OpenACLUnsafe())
	if t.want(err, framework.ErrConnectionLoss); !framework.MaybeApplied(err) || t.stat(t.path).Aversion != 2 {
		t.Fatalf("%v, %+v", err, t.stat(t.path))
	}
}

func testSetACLWithVersion(t bench) {
	t.create(t.path)
	t.set(t.path, "this counts for another version")
	_, err := t.c.SetACL().WithVersion(1).ForPath(t.Context(), t.path, readOnly)
	t.want(err, framework.ErrBadVersion)
	stat, err := t.c.SetACL().WithVersion(0).ForPath(t.Context(), t.path, readOnly)
	if err != nil || stat.Aversion != 1 {
		t.Fatalf("%v, %+v", err, stat)
	}
	_, err = t.c.SetACL().WithVersion(-2).ForPath(t.Context(), t.path, readOnly)
	t.want(err, framework.ErrInvalidBuilder)
}
