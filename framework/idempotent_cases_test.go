package framework_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// The results are those of the answer that was lost.
func lostApplied(d doubt) {
	op := d.c.TransactionOp()
	ops := func(i int) []framework.Op {
		n := fmt.Sprint(i)
		return []framework.Op{
			d.check("/s", int32(i)), d.create("/a"+n, "x"), d.ephemeral("/e"+n, "y"), d.set("/s", "new", int32(i)),
			op.Create().WithMode(framework.Container).WithData([]byte("zz")).ForPath(d.path + "/c" + n),
			d.create("/c"+n+"/child", ""), d.delete("/c"+n+"/child", 0), d.create("/d"+n, ""), d.set("/d"+n, "1", 0), d.delete("/d"+n, 1),
		}
	}
	want, err := d.commit(ops(0)...)
	d.ok(err)
	d.lose(suite.CutAfter, nil)
	got, err := d.commit(ops(1)...)
	d.ok(err)
	for i := range got {
		name := strings.TrimPrefix(got[i].Path, d.path)
		got[i].Path = d.path + strings.ReplaceAll(name, "1", "0")
	}
	zxid := got[3].Stat.Mzxid
	if container := d.stat(d.path + "/c1"); zxid == 0 || got[4].Stat.Czxid != zxid || container.Czxid != zxid || container.Cversion == 0 {
		d.Errorf("container %+v, result %+v", container, got[4])
	}
	// What differs is what the second one has changed besides, and what the nodes do not tell.
	want[8].Stat = want[7].Stat
	for i, r := range got {
		w := want[i]
		w.Stat.Czxid, w.Stat.Mzxid, w.Stat.Pzxid = r.Stat.Czxid, r.Stat.Mzxid, r.Stat.Pzxid
		w.Stat.Ctime, w.Stat.Mtime = r.Stat.Ctime, r.Stat.Mtime
		if i == 3 {
			w.Stat.Version = 2
		}
		if r != w {
			d.Errorf("result %d: %+v, want %+v", i, r, w)
		}
	}
	if stat := d.stat(d.path + "/s"); got[3].Stat != stat {
		d.Errorf("set %+v, the node is %+v", got[3].Stat, stat)
	}
	if c := got[4].Stat; c.Pzxid != zxid || c.Mzxid != zxid || c.Mtime != c.Ctime {
		d.Errorf("created %+v", c)
	}
}

// Checks change nothing: they may be repeated any number of times, and the last answer is the truth.
func checksOnly(d doubt) {
	d.lose(suite.CutAfter, nil)
	_, err := d.commit(d.check("/s", 0), d.check("/d", 0))
	d.ok(err)
	d.lose(suite.CutAfter, func() { d.by(setsNode(d.path+"/s", "other")) })
	results, err := d.commit(d.check("/d", 0), d.check("/s", 0))
	d.want(err, framework.ErrBadVersion)
	d.failed(results, "check check", framework.ErrRolledBack, framework.ErrBadVersion)
	if framework.MaybeApplied(err) {
		d.Errorf("%v: there is nothing to be applied", err)
	}
	for range manyTries {
		d.lose(suite.CutAfter, nil)
	}
	if _, err = d.commit(d.check("/d", 0)); framework.MaybeApplied(err) {
		d.Errorf("%v: there is nothing to be applied", err)
	}
	d.want(err, framework.ErrConnectionLoss)
}

// Of several operations on one node the last one counts. The versions between are known.
func oneNode(d doubt) {
	d.lose(suite.CutAfter, nil)
	results, err := d.commit(d.create("/a", "1"), d.set("/a", "22", 0), d.set("/a", "333", 1),
		d.set("/s", "4444", 0), d.set("/s", "55555", 1), d.set("/d", "x", 0), d.delete("/d", 1), d.create("/d", "y"))
	d.ok(err)
	want := [][2]int32{{0, 0}, {1, 2}, {2, 3}, {1, 4}, {2, 5}, {0, 0}, {0, 0}, {0, 0}} // a plain create has no Stat
	for i, r := range results {
		if got := [2]int32{r.Stat.Version, r.Stat.DataLength}; got != want[i] || (r.Stat.Mzxid == 0) != (want[i] == [2]int32{}) {
			d.Errorf("result %d: version and length %v, want %v", i, got, want[i])
		}
	}
}

// A transaction that could be applied again to what it leaves is refused: others may rely on the first time by then.
func appliesAgain(d doubt) {
	for _, ops := range [][]framework.Op{
		{d.create("/b", ""), d.delete("/b", 0)},
		{d.delete("/s", 0), d.create("/s", "new")},
		{d.check("/d", 0), d.delete("/s", 1), d.create("/s", "new"), d.set("/s", "newer", 0)},
	} {
		results, err := d.commit(ops...)
		if d.want(err, framework.ErrInvalidBuilder); results != nil || framework.MaybeApplied(err) {
			d.Errorf("%+v, %v", results, err)
		}
	}
	d.sent(0, 0)
	_, err := d.commit(d.delete("/s", 0), d.create("/s", "new"), d.create("/b", "")) // /b refuses it
	d.ok(err)
}

// A loop of the program's own does not call again what may have been applied: the call repeats it itself.
func withinRetry(d doubt) {
	d.lose(suite.CutAfter, nil)
	calls := 0
	err := retry.Do(d.Context(), retry.NTimes(3, time.Millisecond), func(ctx context.Context) error {
		calls++
		_, err := d.c.Transaction().Idempotent().ForOperations(ctx, d.create("/a", "x"))
		return err
	})
	if d.ok(err); calls != 1 {
		d.Errorf("%d calls", calls)
	}
	for range manyTries {
		d.lose(suite.CutAfter, nil)
	}
	_, err = d.commit(d.create("/b", "x"))
	if d.want(err, framework.ErrConnectionLoss); !framework.MaybeApplied(err) || framework.Retryable(err) {
		d.Errorf("%v", err)
	}
}

// A client that has had no answer before does not know what is old: nothing proves anything to it.
func nothingSeen(d doubt) {
	fresh, network := d.b.Client(d.T)
	d.by(createsNode(d.path+"/old", "x"))
	network.On(jute.OpMulti, suite.CutBefore, nil)
	results, err := fresh.Transaction().Idempotent().ForOperations(d.Context(),
		fresh.TransactionOp().Create().WithData([]byte("x")).ForPath(d.path+"/old"))
	d.unknown(results, err, "create", "/old", framework.ErrNodeExists)
}

// What is compared is what was sent.
func compressedOps(d doubt) {
	op := d.c.TransactionOp()
	d.lose(suite.CutAfter, nil)
	results, err := d.commit(op.Create().Compressed().WithData([]byte("abc")).ForPath(d.path+"/a"),
		op.SetData().Compressed().WithVersion(0).ForPath(d.path+"/s", []byte("abc")))
	d.ok(err)
	if stored := d.data(d.path + "/s"); !strings.HasPrefix(stored, gzipMagic) || int(results[1].Stat.DataLength) != len(stored) {
		d.Errorf("%q, %+v", stored, results[1])
	}
	// What was stored as it is, by another client, is not the same.
	d.lose(suite.CutBefore, func() { d.by(createsNode(d.path+"/b", "abc")) })
	unproven, err := d.commit(op.Create().Compressed().WithData([]byte("abc")).ForPath(d.path + "/b"))
	d.unknown(unproven, err, "create", "/b", framework.ErrNodeExists)
}

// The nodes are read where the view has them. The namespace is made on the way.
func namespaceOps(d doubt) {
	view := d.c.UsingNamespace(d.path[1:] + "/view")
	d.lose(suite.CutBefore, nil) // ahead of the namespace
	results, err := view.Transaction().Idempotent().ForOperations(d.Context(), view.TransactionOp().Create().ForPath("/a"))
	if d.ok(err); results[0].Path != "/a" || !d.exists(d.path+"/view/a") {
		d.Errorf("%+v", results)
	}
	d.lose(suite.CutAfter, nil)
	results, err = d.commit(view.TransactionOp().Create().ForPath("/b"), d.create("/b", ""))
	if d.ok(err); results[0].Path != "/b" || results[1].Path != d.path+"/b" {
		d.Errorf("%+v", results)
	}
}

// More nodes than are read in one write.
func manyNodes(d doubt) {
	var ops []framework.Op
	for i := range 600 {
		ops = append(ops, d.create(fmt.Sprintf("/n%d", i), fmt.Sprint(i)))
	}
	d.lose(suite.CutAfter, nil)
	results, err := d.commit(ops...)
	if d.ok(err); len(results) != len(ops) {
		d.Fatalf("%d results", len(results))
	}
	d.sent(2, len(ops))
	// One that is not there is noticed, wherever it is.
	for _, missing := range []int{0, 300, 599} {
		d.lose(suite.CutAfter, func() { d.by(deletesNode(fmt.Sprintf("%s/m%d", d.path, missing))) })
		for i := range ops {
			ops[i] = d.create(fmt.Sprintf("/m%d", i), fmt.Sprint(i))
		}
		if results, err := d.commit(ops...); err == nil || results != nil || !framework.MaybeApplied(err) {
			d.Errorf("without node %d: %v", missing, err)
		}
		for i := range ops {
			if i != missing {
				d.by(deletesNode(fmt.Sprintf("%s/m%d", d.path, i)))
			}
		}
	}
}

func inBackground(d doubt) {
	d.lose(suite.CutAfter, nil)
	done := make(chan error, 1)
	d.ok(d.c.Transaction().Idempotent().InBackground(d.Context(), []framework.Op{d.create("/a", "x")},
		func(_ context.Context, results []framework.OpResult, err error) {
			if err == nil && (len(results) != 1 || results[0].Path != d.path+"/a") {
				err = fmt.Errorf("results %+v", results)
			}
			done <- err
		}))
	d.ok(<-done)
}

// The transaction is repeated on the next session. Ephemeral nodes of the one before are gone.
func sessionEnds(d doubt) {
	expire := func() { d.network.Expire(d.T) }
	d.lose(suite.CutAfter, expire)
	_, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
	d.ok(err)
	d.lose(suite.CutAfter, expire)
	results, err := d.commit(d.ephemeral("/e", "x"), d.set("/s", "newer", 1))
	d.unknown(results, err, "setData", "/s", framework.ErrBadVersion)
	if d.exists(d.path + "/e") {
		d.Error("an ephemeral node of a refused transaction")
	}
	d.lose(suite.CutAfter, expire)
	_, err = d.commit(d.ephemeral("/e", "x"))
	if d.ok(err); d.stat(d.path+"/e").EphemeralOwner != d.c.SessionID() {
		d.Errorf("the node is that of session %x", d.stat(d.path+"/e").EphemeralOwner)
	}
	d.lose(suite.CutBefore, expire)
	_, err = d.commit(d.ephemeral("/f", "x"), d.set("/s", "newest", 2))
	d.ok(err)
}

// The context ends ahead of everything, after a loss, and while the nodes are read.
func contextEnds(d doubt) {
	for _, at := range []string{"before", "lost", "repeated", "read"} {
		d.exists(d.path) // on a connection that is not about to end
		ctx, cancel := context.WithCancelCause(d.Context())
		heal := func() {}
		silence := func() { // what is sent after it gets no answer
			heal = sync.OnceFunc(d.network.Isolate())
			cancel(errEnough)
		}
		switch at {
		case "before":
			cancel(errEnough)
		case "lost":
			d.lose(suite.CutAfter, func() { cancel(errEnough) })
		case "repeated":
			d.lose(suite.CutAfter, nil)
			d.lose(suite.Late, silence)
		case "read":
			d.lose(suite.CutAfter, nil)
			d.network.On(jute.OpGetData, suite.Late, silence)
		}
		results, err := d.c.Transaction().Idempotent().ForOperations(ctx, d.create("/"+at, "x"))
		heal()
		if d.want(err, context.Canceled); framework.MaybeApplied(err) != (at != "before") || results != nil {
			d.Errorf("%s: %v, may have been applied: %t, results %+v", at, err, framework.MaybeApplied(err), results)
		}
		cancel(nil)
	}
}

// Close ends the wait for a connection behind a loss.
func clientClosed(d doubt) {
	var heal func()
	isolated := make(chan struct{})
	d.lose(suite.CutAfter, func() { heal = d.network.Isolate(); close(isolated) })
	done := make(chan error, 1)
	go func() {
		_, err := d.commit(d.create("/a", "x"))
		done <- err
	}()
	<-isolated
	ctx, cancel := context.WithTimeout(d.Context(), 100*time.Millisecond)
	defer cancel()
	_ = d.c.Close(ctx) // it cannot close its session
	err := <-done
	heal()
	if d.want(err, framework.ErrClosed); !framework.MaybeApplied(err) {
		d.Errorf("%v: it may have been applied", err)
	}
	if _, err := d.commit(d.create("/b", "x")); framework.MaybeApplied(err) {
		d.Errorf("behind Close: %v", err)
	}
}

// What must not be repeated is refused before anything is sent, and the error names it.
func notRepeatable(d doubt) {
	op := d.c.TransactionOp()
	ttl := op.Create().WithTTL(time.Hour)
	for _, bad := range []framework.Op{
		op.Create().WithMode(framework.PersistentSequential).ForPath(d.path + "/x"),
		op.Create().WithMode(framework.EphemeralSequential).ForPath(d.path + "/x"),
		ttl.WithMode(framework.PersistentSequentialWithTTL).ForPath(d.path + "/x"),
		op.SetData().ForPath(d.path+"/x", nil), op.SetData().WithVersion(-1).ForPath(d.path+"/x", nil),
		op.Delete().ForPath(d.path + "/x"), op.Delete().WithVersion(-1).ForPath(d.path + "/x"),
	} {
		results, err := d.commit(d.create("/a", ""), bad)
		d.want(err, framework.ErrInvalidBuilder)
		var failed *framework.OpError
		if errors.As(err, &failed); failed.Path != d.path+"/x" || !slices.Contains([]string{"create", "setData", "delete"}, failed.Op) ||
			!strings.Contains(err.Error(), "Idempotent") || results != nil || framework.MaybeApplied(err) {
			d.Errorf("%v, %+v", err, results)
		}
	}
	_, err := d.commit()
	d.want(err, framework.ErrInvalidBuilder)
	_, err = d.commit(framework.Op{})
	d.want(err, framework.ErrInvalidBuilder)
	d.sent(0, 0)
	_, err = d.commit(d.create("/a", ""), ttl.WithMode(framework.PersistentWithTTL).ForPath(d.path+"/t"))
	d.ok(err)
}

// An answer to the reads that may pass is no proof, and no end: the client asks again.
func TestIdempotentReadRefusedOnce(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		if _, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), b.Path("node")); err != nil {
			t.Fatal(err)
		}
		network.On(jute.OpMulti, suite.CutAfter, nil)
		hit := b.Server().Inject(curatortest.Rule{Op: "getData", Do: curatortest.Fail(framework.ErrSessionMoved)})
		results, err := c.Transaction().Idempotent().ForOperations(t.Context(), c.TransactionOp().Create().ForPath(b.Path("node/a")))
		if err != nil || len(results) != 1 || !hit() {
			t.Errorf("%+v, %v, refused: %t", results, err, hit())
		}
	})
}
