package migration_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/migrations"
	"github.com/go-curator/curator/recipes/modeled"
)

type order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

func typed(ctx context.Context, client *framework.Client) error {
	orders := modeled.Wrap(client, modeled.ModelSpec[order]{
		Path: modeled.ParseZPathWithIDs("/orders/{customer}/{id}"), Codec: codec.JSON[order](),
	})
	soap := orders.Resolved("ann", 7)
	if _, err := soap.Set(ctx, order{Item: "soap"}); err != nil {
		return err
	}
	node, err := soap.Modify(ctx, func(o order) (order, error) {
		o.Count++
		return o, nil
	})
	if err != nil {
		return err
	}
	use([]byte(node.Model.Item))
	return nil
}

func migrate(ctx context.Context, client *framework.Client) error {
	op := client.TransactionOp()
	set := migrations.Set{ID: "shop", Migrations: []migrations.Migration{
		{op.Create().WithData(nil).ForPath("/shop"), op.Create().WithData([]byte("v1")).ForPath("/shop/layout")},
		{op.SetData().ForPath("/shop/layout", []byte("v2"))},
	}}
	_, err := migrations.Migrate(ctx, client, "/migrations/locks", "/migrations/applied", set)
	return err
}
