package migrations_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/migrations"
)

// Bad arguments are refused before anything is sent, with the argument's name.
func TestMisuse(t *testing.T) {
	client, other := newClient(t, "localhost:1"), newClient(t, "localhost:1")
	op := client.TransactionOp().Create().ForPath("/a")
	good := migrations.Set{ID: "set", Migrations: []migrations.Migration{{op}}}
	with := func(ops ...framework.Op) migrations.Set {
		return migrations.Set{ID: "set", Migrations: []migrations.Migration{{op}, ops}}
	}
	named := func(id string) migrations.Set { return migrations.Set{ID: id} }
	for name, c := range map[string]struct {
		client          *framework.Client
		locks, metadata string
		set             migrations.Set
		opts            []locks.SemaphoreOption
		want            error
		text            string
	}{
		"nil client":             {nil, "/l", "/m", good, nil, framework.ErrNotStarted, "client"},
		"client not started":     {client, "/l", "/m", good, nil, framework.ErrNotStarted, "not started"},
		"no ID":                  {client, "/l", "/m", named(""), nil, framework.ErrInvalidOption, "no ID"},
		"ID with a slash":        {client, "/l", "/m", named("a/b"), nil, framework.ErrInvalidOption, "slash"},
		"ID that is no name":     {client, "/l", "/m", named(".."), nil, framework.ErrInvalidPath, "ID"},
		"lock path":              {client, "l", "/m", good, nil, framework.ErrInvalidPath, "lock path"},
		"metadata path":          {client, "/l", "", good, nil, framework.ErrInvalidPath, "metadata path"},
		"one path for both":      {client, "/m", "/m", good, nil, framework.ErrInvalidOption, "lock path"},
		"bad option":             {client, "/l", "/m", good, []locks.SemaphoreOption{locks.WithMaxWait(-time.Second)}, framework.ErrInvalidOption, "WithMaxWait"},
		"zero operation":         {client, "/l", "/m", with(framework.Op{}), nil, framework.ErrInvalidBuilder, "migration 2: operation 1"},
		"another client's":       {client, "/l", "/m", with(op, other.TransactionOp().Delete().ForPath("/a")), nil, framework.ErrInvalidBuilder, "migration 2: operation 2"},
		"operation with no path": {client, "/l", "/m", with(client.TransactionOp().Delete().ForPath("")), nil, framework.ErrInvalidPath, "migration 2: operation 1"},
	} {
		n, err := migrations.Migrate(t.Context(), c.client, c.locks, c.metadata, c.set, c.opts...)
		suite.WantErr(t, err, c.want)
		if err == nil || n != 0 || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	var none context.Context
	suite.Got(migrations.Migrate(none, client, "/l", "/m", good)).Fails(t, framework.ErrInvalidOption)
}
