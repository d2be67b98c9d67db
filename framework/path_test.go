package framework_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// A server counts the two halves of a character beyond U+FFFF, and refuses both: so it is refused
// here, as what it is.
func TestPathsBeyondTheFirstPlane(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		for _, name := range []string{"𐀀", "a😀", "􏿿/b", "￰", "￿", "", ""} {
			for i, call := range []func() error{
				func() error { _, err := c.Create().ForPath(t.Context(), "/"+name); return err },
				func() error {
					_, err := c.Create().WithMode(framework.PersistentSequential).ForPath(t.Context(), "/"+name)
					return err
				},
				func() error { return c.Sync().ForPath(t.Context(), "/"+name) },
				func() error { _, err := c.UsingNamespace(name).GetData().ForPath(t.Context(), "/"); return err },
				func() error {
					_, err := c.Transaction().ForOperations(t.Context(), c.TransactionOp().Delete().ForPath("/"+name))
					return err
				},
				func() error { _, err := framework.NewClient("a:1/"+name, retry.None()); return err },
			} {
				if err := call(); !errors.Is(err, framework.ErrInvalidPath) {
					t.Errorf("%q, call %d: %v", name, i, err)
				}
			}
		}
		for _, op := range []jute.Op{jute.OpCreate2, jute.OpSync, jute.OpGetData, jute.OpMulti} {
			if n := network.Requests(op); n != 0 {
				t.Errorf("%d requests %d", n, op)
			}
		}
		for _, good := range []string{"ä", "￯", "豈"} {
			path, err := c.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/"+good+strings.ReplaceAll(b.Path(""), "/", ""))
			if err != nil {
				t.Errorf("%q: %v", path, err)
			}
		}
	})
}
