package migrations_test

import (
	"testing"
	"fmt"
	"testing/synctest"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/migrations"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := curatortest.Start(t, curatortest.Virtual())
		c, tr := suite.Tapped(t, s)
		set := migrations.Set{ID: "x", Migrations: []migrations.Migration{{c.TransactionOp().Create().ForPath("/a")}}}
		for i := range 3 {
			n, err := migrations.Migrate(t.Context(), c, "/l", "/m", set)
			fmt.Println(n, err)
			fmt.Println(tr.Take())
			set.Migrations = append(set.Migrations, migrations.Migration{c.TransactionOp().Create().ForPath(fmt.Sprint("/a", i))})
		}
	})
}
