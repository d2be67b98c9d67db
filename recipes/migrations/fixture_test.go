package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/migrations"
)

// fixture is a backend with an observer, and the paths of one test.
type fixture struct {
	t        *testing.T
	b        *suite.Backend
	observer *framework.Client
	locks    string
	metadata string
	root     string // of the nodes that are migrated
}

func newFixture(t *testing.T, b *suite.Backend) *fixture {
	f := &fixture{t: t, b: b, locks: b.Path("locks"), metadata: b.Path("metadata"), root: b.Path("data")}
	f.observer, _ = b.Client(t)
	f.do(f.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), f.root))
	return f
}

func (f *fixture) do(_ string, err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// create is a migration that creates a node, which cannot be done twice, and counts itself in the
// version of the root.
func (f *fixture) create(c *framework.Client, name string) migrations.Migration {
	return migrations.Migration{
		c.TransactionOp().Create().WithData([]byte(name)).ForPath(f.root + "/" + name),
		c.TransactionOp().SetData().ForPath(f.root, nil),
	}
}

// set is a set of migrations that create these nodes.
func (f *fixture) set(c *framework.Client, names ...string) migrations.Set {
	set := migrations.Set{ID: "set"}
	for _, name := range names {
		set.Migrations = append(set.Migrations, f.create(c, name))
	}
	return set
}

func (f *fixture) migrate(ctx context.Context, c *framework.Client, set migrations.Set, opts ...locks.SemaphoreOption) (int, error) {
	return migrations.Migrate(ctx, c, f.locks, f.metadata, set, opts...)
}

// applies migrates by the observer, and wants n to be applied.
func (f *fixture) applies(n int, names ...string) {
	f.t.Helper()
	got, err := f.migrate(f.t.Context(), f.observer, f.set(f.observer, names...))
	if err != nil || got != n {
		f.t.Fatalf("applied %d, %v, want %d", got, err, n)
	}
}

// refuses migrates by the observer, and wants an error.
func (f *fixture) refuses(set migrations.Set, want error) {
	f.t.Helper()
	n, err := f.migrate(f.t.Context(), f.observer, set)
	suite.WantErr(f.t, err, want)
	if n != 0 {
		f.t.Errorf("%d applied beside an error", n)
	}
}

// has wants exactly these migrations to be applied, each once, and to be known so.
func (f *fixture) has(names ...string) {
	f.t.Helper()
	if got := f.children(f.root); !slices.Equal(got, names) {
		f.t.Errorf("the nodes are %q, want %q", got, names)
	}
	var stat framework.Stat
	if _, err := f.observer.GetData().StoringStatIn(&stat).ForPath(f.t.Context(), f.root); err != nil || int(stat.Version) != len(names) {
		f.t.Errorf("version %d, %v, want %d", stat.Version, err, len(names))
	}
	var want []string
	for i := range names {
		want = append(want, fmt.Sprintf("meta-%010d", i))
	}
	if got := f.children(f.metadata + "/set"); !slices.Equal(got, want) {
		f.t.Errorf("the hashes are %q, want %q", got, want)
	}
}

// unlocked waits until no node of a lock is left.
func (f *fixture) unlocked() {
	f.t.Helper()
	suite.Eventually(f.t, "a lock without nodes", func() bool {
		return len(f.children(f.locks+"/set/locks")) == 0 && len(f.children(f.locks+"/set/leases")) == 0
	})
}

// children returns the names of the nodes below a path, in order; none if it is missing.
func (f *fixture) children(path string) []string {
	f.t.Helper()
	names, err := f.observer.GetChildren().ForPath(f.t.Context(), path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		f.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func (f *fixture) delete(path string) {
	f.t.Helper()
	if err := f.observer.Delete().DeletingChildrenIfNeeded().ForPath(f.t.Context(), path); err != nil {
		f.t.Error(err)
	}
}

// each runs a test in virtual time and on a real server.
func each(t *testing.T, test func(f *fixture)) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) { test(newFixture(t, b)) })
}

func virtual(t *testing.T, test func(f *fixture)) {
	t.Helper()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(newFixture(t, b)) })
}
