package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// doubt is a bench for transactions whose reply is lost. There is a node t.path+"/s" with the data "old", and t.path+"/d"
// without data. The other client meets no faults.
type doubt struct {
	bench
	other *framework.Client
}

// commit commits operations by an idempotent transaction.
func (d doubt) commit(ops ...framework.Op) ([]framework.OpResult, error) {
	return d.c.Transaction().Idempotent().ForOperations(d.Context(), ops...)
}

// lose loses the connection around the next transaction, which is applied or not, and has then called meanwhile.
func (d doubt) lose(fate suite.Fate, then func()) { d.network.On(jute.OpMulti, fate, then) }

func (d doubt) create(name, data string) framework.Op {
	return d.c.TransactionOp().Create().WithData([]byte(data)).ForPath(d.path + name)
}

func (d doubt) ephemeral(name, data string) framework.Op {
	return d.c.TransactionOp().Create().WithMode(framework.Ephemeral).WithData([]byte(data)).ForPath(d.path + name)
}

func (d doubt) set(name, data string, version int32) framework.Op {
	return d.c.TransactionOp().SetData().WithVersion(version).ForPath(d.path+name, []byte(data))
}

func (d doubt) delete(name string, version int32) framework.Op {
	return d.c.TransactionOp().Delete().WithVersion(version).ForPath(d.path + name)
}

func (d doubt) check(name string, version int32) framework.Op {
	return d.c.TransactionOp().Check().WithVersion(version).ForPath(d.path + name)
}

// by commits each operation for itself, by the other client, as the user of it would have made it.
func (d doubt) by(calls ...func(c *framework.Client) error) {
	for _, call := range calls {
		if err := call(d.other); err != nil {
			d.Error(err) // on the goroutine of a connection
		}
	}
}

func createsNode(path, data string) func(c *framework.Client) error {
	return func(c *framework.Client) error {
		_, err := c.Create().WithData([]byte(data)).ForPath(context.Background(), path)
		return err
	}
}

func setsNode(path, data string) func(c *framework.Client) error {
	return func(c *framework.Client) error {
		_, err := c.SetData().ForPath(context.Background(), path, []byte(data))
		return err
	}
}

func deletesNode(path string) func(c *framework.Client) error {
	return func(c *framework.Client) error { return c.Delete().ForPath(context.Background(), path) }
}

// unknown fails unless err is the refusal of op at a node, of a transaction that may have been applied.
func (d doubt) unknown(results []framework.OpResult, err error, op, name string, want error) {
	d.Helper()
	d.want(err, want)
	var failed *framework.OpError
	if errors.As(err, &failed); failed.Op != op || failed.Path != d.path+name || failed.Attempts < 2 {
		d.Errorf("failed %+v", failed)
	}
	if !framework.MaybeApplied(err) || results != nil {
		d.Errorf("%v, may have been applied: %t, results %+v", err, framework.MaybeApplied(err), results)
	}
}

// sent fails unless so many transactions were sent, and so many reads of nodes by the client.
func (d doubt) sent(multis, reads int) {
	d.Helper()
	if n := d.network.Requests(jute.OpMulti); n != multis {
		d.Errorf("%d transactions, want %d", n, multis)
	}
	if n := d.network.Requests(jute.OpGetData) + d.network.Requests(jute.OpExists); n != reads {
		d.Errorf("%d reads, want %d", n, reads)
	}
}

// manyTries are more than the retry policy of the suite's clients allows.
const manyTries = 20

// idempotent are the states of a transaction that is repeated: see docs/guarantees.md.
var idempotent = map[string]func(d doubt){
	"answered": func(d doubt) {
		results, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
		if d.ok(err); results[0].Path != d.path+"/a" || results[1].Stat != d.stat(d.path+"/s") {
			d.Errorf("results %+v", results)
		}
		d.sent(1, 1)
	},
	"refused": func(d doubt) {
		results, err := d.commit(d.set("/s", "new", 0), d.create("/d", "old"))
		d.want(err, framework.ErrNodeExists)
		d.failed(results, "setData create", framework.ErrRolledBack, framework.ErrNodeExists)
		d.sent(1, 0)
	},
	"lost, not applied": func(d doubt) {
		d.lose(suite.CutBefore, nil)
		results, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
		if d.ok(err); results[0].Path != d.path+"/a" || results[1].Stat.Version != 1 {
			d.Errorf("results %+v", results)
		}
		d.sent(2, 0)
	},
	"lost, applied": lostApplied,
	"lost twice": func(d doubt) {
		d.lose(suite.CutAfter, nil)
		d.lose(suite.CutBefore, nil)
		_, err := d.commit(d.create("/a", "x"))
		d.ok(err)
		d.sent(3, 1)
	},
	"lost again and again": func(d doubt) {
		for range manyTries {
			d.lose(suite.CutAfter, nil)
		}
		results, err := d.commit(d.create("/a", "x"))
		if d.want(err, framework.ErrConnectionLoss); !framework.MaybeApplied(err) || results != nil || d.data(d.path+"/a") != "x" {
			d.Errorf("%v, %+v", err, results)
		}
	},
	"another change is in the way": func(d doubt) {
		d.lose(suite.CutBefore, func() { d.by(setsNode(d.path+"/s", "other")) })
		results, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
		d.unknown(results, err, "setData", "/s", framework.ErrBadVersion)
		d.sent(2, 2)
	},
	"applied, and overwritten": func(d doubt) {
		d.lose(suite.CutAfter, func() { d.by(setsNode(d.path+"/s", "other")) })
		results, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
	"applied, and undone": func(d doubt) {
		d.lose(suite.CutAfter, func() { d.by(deletesNode(d.path + "/a")) })
		_, err := d.commit(d.create("/a", "x"))
		d.ok(err)
		if d.data(d.path+"/a") != "x" {
			d.Error("it was not done again")
		}
	},
	"the same changes by another client": func(d doubt) {
		d.lose(suite.CutBefore, func() { d.by(createsNode(d.path+"/a", "x"), setsNode(d.path+"/s", "new")) })
		results, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
		d.sent(2, 2)
	},
	"the same transaction by another client": func(d doubt) { // cannot be told from the client's own
		d.lose(suite.CutBefore, func() {
			op := d.other.TransactionOp()
			_, err := d.other.Transaction().ForOperations(context.Background(),
				op.Create().WithData([]byte("x")).ForPath(d.path+"/a"), op.SetData().ForPath(d.path+"/s", []byte("new")))
			d.by(func(*framework.Client) error { return err })
		})
		_, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
		d.ok(err)
	},
	"other data by another client": func(d doubt) {
		d.lose(suite.CutBefore, func() { d.by(createsNode(d.path+"/a", "y")) })
		results, err := d.commit(d.create("/a", "x"))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
	"the same node before the call": func(d doubt) {
		d.lose(suite.CutAfter, nil)
		results, err := d.commit(d.create("/s", "old"))
		d.unknown(results, err, "create", "/s", framework.ErrNodeExists)
	},
	"an ephemeral node in place of a persistent one": func(d doubt) {
		d.lose(suite.CutBefore, func() {
			_, err := d.other.Create().WithMode(framework.Ephemeral).WithData([]byte("x")).ForPath(context.Background(), d.path+"/a")
			d.by(func(*framework.Client) error { return err })
		})
		results, err := d.commit(d.create("/a", "x"))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
	"an ephemeral node of another session": func(d doubt) {
		d.lose(suite.CutBefore, func() {
			_, err := d.other.Create().WithMode(framework.Ephemeral).WithData([]byte("x")).ForPath(context.Background(), d.path+"/a")
			d.by(func(*framework.Client) error { return err })
		})
		results, err := d.commit(d.ephemeral("/a", "x"))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
	"set away and back": func(d doubt) { // the data is the same, the version is not
		d.lose(suite.CutAfter, func() { d.by(setsNode(d.path+"/s", "other"), setsNode(d.path+"/s", "new")) })
		results, err := d.commit(d.set("/s", "new", 0))
		d.unknown(results, err, "setData", "/s", framework.ErrBadVersion)
	},
	"created again": func(d doubt) { // version and data are the same, the zxid is not
		d.lose(suite.CutAfter, func() { d.by(deletesNode(d.path+"/s"), createsNode(d.path+"/s", "x"), setsNode(d.path+"/s", "new")) })
		results, err := d.commit(d.create("/a", "x"), d.set("/s", "new", 0))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
	"created again by one transaction": func(d doubt) { // the set node is not older than its transaction
		d.lose(suite.CutBefore, func() {
			op := d.other.TransactionOp()
			_, err := d.other.Transaction().ForOperations(context.Background(), op.Delete().ForPath(d.path+"/s"),
				op.Create().WithData([]byte("x")).ForPath(d.path+"/s"), op.SetData().ForPath(d.path+"/s", []byte("new")))
			d.by(func(*framework.Client) error { return err })
		})
		results, err := d.commit(d.set("/s", "new", 0))
		d.unknown(results, err, "setData", "/s", framework.ErrBadVersion)
	},
	"deletes alone": func(d doubt) {
		d.lose(suite.CutAfter, nil)
		results, err := d.commit(d.check("/s", 0), d.delete("/d", 0))
		d.unknown(results, err, "delete", "/d", framework.ErrNoNode)
		d.sent(2, 0)
	},
	"a deleted node is there again": func(d doubt) {
		d.lose(suite.CutAfter, func() { d.by(createsNode(d.path+"/d", "")) })
		results, err := d.commit(d.create("/a", "x"), d.delete("/d", 0))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
	"checks only":       checksOnly,
	"one node":          oneNode,
	"compressed":        compressedOps,
	"a namespace":       namespaceOps,
	"many nodes":        manyNodes,
	"in the background": inBackground,
	"session ends":      sessionEnds,
	"read-back is lost": func(d doubt) {
		d.lose(suite.CutAfter, nil)
		d.network.On(jute.OpGetData, suite.CutAfter, nil)
		_, err := d.commit(d.create("/a", "x"))
		d.ok(err)
		d.sent(3, 2)
	},
	"read-back is refused": func(d doubt) {
		secret := framework.ACL{Perms: framework.PermAll &^ framework.PermRead, Scheme: "world", ID: "anyone"}
		d.lose(suite.CutAfter, nil)
		results, err := d.commit(d.c.TransactionOp().Create().WithACL(secret).ForPath(d.path + "/a"))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
	"the context ends":     contextEnds,
	"the client is closed": clientClosed,
	"not repeatable":       notRepeatable,
	"applies again":        appliesAgain,
	"within a retry loop":  withinRetry,
	"nothing seen before":  nothingSeen,
	"made behind the refusal": func(d doubt) {
		d.lose(suite.CutBefore, func() { d.by(createsNode(d.path+"/a", "other")) })
		d.network.On(jute.OpGetData, suite.Late, func() {
			d.by(deletesNode(d.path+"/a"), createsNode(d.path+"/a", "x"))
		})
		results, err := d.commit(d.create("/a", "x"))
		d.unknown(results, err, "create", "/a", framework.ErrNodeExists)
	},
}

// TestIdempotentTransaction has each state.
func TestIdempotentTransaction(t *testing.T) {
	t.Parallel()
	for name, test := range idempotent {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			on := suite.InVirtualTime | suite.OnRealServer
			if name == "checks only" || name == "lost again and again" || name == "within a retry loop" {
				on = suite.InVirtualTime // what takes long is the client's pauses
			}
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
				c, network := b.Client(t)
				other, _ := b.Client(t)
				d := doubt{bench{t, b, c, network, b.Path("node")}, other}
				_, err := other.Create().CreatingParentsIfNeeded().WithData([]byte("old")).ForPath(t.Context(), d.path+"/s")
				d.ok(err)
				d.by(createsNode(d.path+"/d", ""))
				_, err = c.GetChildren().ForPath(t.Context(), d.path) // what was before is known
				d.ok(err)
				test(d)
			})
		})
	}
}
