package framework_test

import (
	"errors"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// short refuses data of more than three bytes.
type short struct{}

func (short) Validate(_ *schema.Schema, c schema.Change) error {
	if len(c.Data) > 3 {
		return errors.New("it is too long")
	}
	return nil
}

// TestSchemas has each kind of operation permitted and refused, before anything is sent.
func TestSchemas(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		root := b.Path("schemas")
		var schemas []*schema.Schema
		for _, s := range []struct {
			name, path string
			opts       []schema.Option
		}{
			{"fixed", root + "/fixed", []schema.Option{schema.WithCanBeDeleted(false), schema.WithValidator(short{}), schema.WithEphemeral(schema.Cannot)}},
			{"watched", root + "/watched", []schema.Option{schema.WithWatched(schema.Must)}},
		} {
			made, err := schema.New(s.name, s.path, s.opts...)
			if err != nil {
				t.Fatal(err)
			}
			schemas = append(schemas, made)
		}
		set, err := schema.NewSet(schemas, true)
		if err != nil {
			t.Fatal(err)
		}
		c, network := b.Client(t, framework.WithSchemaSet(set), framework.WithCompression())
		ctx, fixed := t.Context(), root+"/fixed"
		if err := c.BlockUntilConnected(ctx); err != nil {
			t.Fatal(err)
		}
		before := network.Requests(jute.OpCreate2) + network.Requests(jute.OpSetData) + network.Requests(jute.OpDelete) + network.Requests(jute.OpGetData) + network.Requests(jute.OpMulti)
		_, ephemeral := c.Create().WithMode(framework.Ephemeral).WithData(nil).ForPath(ctx, fixed)
		_, long := c.Create().WithData([]byte("long")).ForPath(ctx, fixed)
		_, set4 := c.SetData().ForPath(ctx, fixed, []byte("long"))
		_, unwatched := c.GetData().ForPath(ctx, root+"/watched")
		_, tx := c.Transaction().ForOperations(ctx, c.TransactionOp().Delete().ForPath(fixed))
		for what, err := range map[string]error{
			"an ephemeral node": ephemeral, "a create of long data": long, "a write of long data": set4,
			"a delete": c.Delete().ForPath(ctx, fixed), "a read without a watch": unwatched, "a delete in a transaction": tx,
		} {
			if _, ok := errors.AsType[*schema.Violation](err); !ok {
				t.Errorf("%s: %v", what, err)
			}
		}
		if after := network.Requests(jute.OpCreate2) + network.Requests(jute.OpSetData) + network.Requests(jute.OpDelete) + network.Requests(jute.OpGetData) + network.Requests(jute.OpMulti); after != before {
			t.Errorf("%d requests were sent", after-before)
		}
		// Compressed it is longer than three bytes: what is given counts.
		if _, err := c.Create().CreatingParentsIfNeeded().WithData([]byte("abc")).ForPath(ctx, fixed); err != nil {
			t.Fatal(err)
		}
		if data, err := c.GetData().ForPath(ctx, fixed); err != nil || string(data) != "abc" {
			t.Errorf("%q, %v", data, err)
		}
		mutex, err := locks.NewInterProcessMutex(c, root+"/lock")
		if err != nil {
			t.Fatal(err)
		}
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(ctx); err != nil {
			t.Error(err)
		}
	})
	if _, err := framework.NewClient("a", retry.None(), framework.WithSchemaSet(nil)); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("a nil set: %v", err)
	}
}
