package locks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/retry"
)

// directory is a lock's path, with contenders that follow the rules of this package, and with
// children of others.
type directory struct {
	kinds    []*queueLock // who contends
	max      int          // how many may be in
	foreign  []string     // formats of the names of others, that take the next number
	disorder bool         // somebody has made a node by hand, with a number of his choice

	next  int
	nodes []*member // in the order of their creation
}

// member is a child of the lock's path. lock is nil for a child of others.
type member struct {
	name   string
	lock   *queueLock
	inside bool
	writer *member // of whose number it is
	reader *member // that has its number
}

const uuid = "_c_6f2b6a5e-0a5c-4d5e-9d0f-0123456789ab-"

// TestRules has contenders come, look, downgrade and go at random, among children that are
// not theirs.
func TestRules(t *testing.T) {
	t.Parallel()
	client, err := framework.NewClient("127.0.0.1:1", retry.None())
	if err != nil {
		t.Fatal(err)
	}
	rw, err := NewInterProcessReadWriteLock(client, "/lock")
	if err != nil {
		t.Fatal(err)
	}
	mutex, err := NewInterProcessMutex(client, "/lock")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := NewInterProcessReadWriteLock(client, "/lock", WithPlainProtocol())
	if err != nil {
		t.Fatal(err)
	}
	kazoo := "8f14e45fceea467a9b3ec9a0d0a1b2c3__lock__%010d"
	zk := "_c_8f14e45fceea467a9b3ec9a0d0a1b2c3-lock-%010d"
	dirs := map[string]directory{
		"mutex":      {kinds: []*queueLock{mutex.queue}, max: 1, foreign: []string{kazoo, zk}},
		"read-write": {kinds: []*queueLock{rw.read.queue, rw.write.queue}, max: 1, foreign: []string{kazoo, "x-__READ__%010d", "x-__WRIT__%010d"}},
		"read-write, some with the plain protocol": {
			kinds: []*queueLock{plain.read.queue, rw.read.queue, rw.write.queue}, max: 1, foreign: []string{kazoo, "x-__READ__%010d", "x-__WRIT__%010d"},
		},
	}
	for _, n := range []int{1, 2, 3} {
		semaphore, err := NewInterProcessSemaphore(client, "/lock", n)
		if err != nil {
			t.Fatal(err)
		}
		dirs[fmt.Sprintf("semaphore of %d", n)] = directory{kinds: []*queueLock{semaphore.queue}, max: n, foreign: []string{kazoo, zk}}
	}
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				d := dir
				r.Repeat(map[string]func(*rapid.T){
					"join": d.join, "join again": d.join, "foreign": d.others, "by hand": d.byHand,
					"downgrade": d.downgrade, "leave": d.leave, "leave first": d.leaveFirst, "": d.check,
				})
			})
		})
	}
}

func (d *directory) number() string {
	d.next++
	return fmt.Sprintf("%010d", d.next-1)
}

func (d *directory) join(r *rapid.T) {
	lock := d.kind(r)
	d.nodes = append(d.nodes, &member{name: uuid + lock.lockName + d.number(), lock: lock})
}

func (d *directory) kind(r *rapid.T) *queueLock {
	return d.kinds[rapid.IntRange(0, len(d.kinds)-1).Draw(r, "kind")]
}

// others make a node with the next number, in their way.
func (d *directory) others(r *rapid.T) {
	format := rapid.SampledFrom(d.foreign).Draw(r, "format")
	d.nodes = append(d.nodes, &member{name: fmt.Sprintf(format, d.next)})
	d.next++
}

// byHand makes a node with a name that no server gives.
func (d *directory) byHand(r *rapid.T) {
	if rapid.Bool().Draw(r, "no contender's") {
		name := rapid.SampledFrom([]string{"notes", "lock", "x-lok-0000000001", "__READ_0000000000", "lock-1", "0000000000"}).Draw(r, "name")
		d.nodes = append(d.nodes, &member{name: fmt.Sprintf("%s.%d", name, d.next)})
		return
	}
	like := d.kind(r)
	number := rapid.IntRange(0, d.next+1).Draw(r, "number")
	d.disorder = true
	d.nodes = append(d.nodes, &member{name: fmt.Sprintf("hand-%d-%s%010d", len(d.nodes), like.lockName, number)})
}

// downgrade makes a reader at the place of a writer that is in. It is in at once.
func (d *directory) downgrade(r *rapid.T) {
	i := slices.IndexFunc(d.nodes, func(m *member) bool {
		return m.inside && m.reader == nil && m.lock.kind == writeKind
	})
	if i < 0 {
		r.Skip("nobody to downgrade")
	}
	writer := d.nodes[i]
	reader := &member{name: "_c_other-" + layout.ReadMark + layout.ReadWriteNumber(writer.name), lock: d.kinds[0], writer: writer}
	writer.reader = reader
	d.nodes = append(d.nodes, reader)
	if !d.disorder && !d.look(r, reader).GetsTheLock {
		r.Fatalf("a reader is not let in at the place of its writer, among %q", d.names(r))
	}
}

func (d *directory) leave(r *rapid.T) {
	if len(d.nodes) == 0 {
		r.Skip("nobody is there")
	}
	d.remove(rapid.IntRange(0, len(d.nodes)-1).Draw(r, "who"))
}

func (d *directory) leaveFirst(r *rapid.T) {
	if len(d.nodes) == 0 {
		r.Skip("nobody is there")
	}
	d.remove(0)
}

func (d *directory) remove(i int) {
	if m := d.nodes[i]; m.writer != nil {
		m.writer.reader = nil
	}
	d.nodes = slices.Delete(d.nodes, i, i+1)
}

// names are what a server may list: it does not say in which order.
func (d *directory) names(r *rapid.T) []string {
	names := make([]string, 0, len(d.nodes))
	for _, m := range d.nodes {
		names = append(names, m.name)
	}
	if rapid.Bool().Draw(r, "listed backwards") {
		slices.Reverse(names)
	}
	first := rapid.IntRange(0, len(names)).Draw(r, "listed first")
	return slices.Concat(names[first:], names[:first])
}

func (d *directory) look(r *rapid.T, m *member) PredicateResults {
	return decide(r, m, d.names(r))
}

func decide(r *rapid.T, m *member, names []string) PredicateResults {
	queue, err := queueOf(m.lock, names)
	if err != nil {
		r.Fatalf("the queue of %q: %v", names, err)
	}
	return m.lock.driver.GetsTheLock(queue, m.name, m.lock.maxLeases)
}

// check has everybody look who is not in.
func (d *directory) check(r *rapid.T) {
	for _, name := range d.names(r) {
		m := d.nodes[slices.IndexFunc(d.nodes, func(m *member) bool { return m.name == name })]
		if m.lock == nil {
			continue
		}
		listed := d.names(r)
		next := decide(r, m, listed)
		switch {
		case m.inside:
			// What is made by hand may come before; a writer does not look again after
			// its downgrade.
			if !next.GetsTheLock && !d.disorder && m.reader == nil {
				r.Fatalf("%s was in and is not any more, among %q", m.name, d.names(r))
			}
		case next.GetsTheLock:
			m.inside = true
		default:
			checkWaiter(r, m, listed, next.PathsToWatch)
		}
	}
	d.checkInside(r)
}

// checkInside fails if more are in than may be.
func (d *directory) checkInside(r *rapid.T) {
	var shared, exclusive int
	for _, m := range d.nodes {
		switch {
		case !m.inside || m.writer != nil && slices.Contains(d.nodes, m.writer):
		case m.lock.shared:
			shared++
		default:
			exclusive++
		}
	}
	if exclusive > d.max || exclusive > 0 && shared > 0 {
		r.Fatalf("%d and %d readers are in, among %q", exclusive, shared, d.names(r))
	}
}

// checkWaiter fails if a waiter could be let in without noticing, or never.
func checkWaiter(r *rapid.T, m *member, listed, watched []string) {
	if len(watched) == 0 {
		r.Fatalf("%s waits for nothing, among %q", m.name, listed)
	}
	own := m.order(m.name)
	without := func(goes func(name string) bool) []string {
		return slices.DeleteFunc(slices.Clone(listed), goes)
	}
	ahead := func(name string) bool { return name != m.name && m.order(name) != "" && m.order(name) <= own }
	for _, name := range watched {
		if !ahead(name) {
			r.Fatalf("%s watches %q, which is not ahead of it, among %q", m.name, name, listed)
		}
	}
	for _, left := range [][]string{
		without(func(name string) bool { return ahead(name) && !slices.Contains(watched, name) }),
		without(func(name string) bool {
			return !slices.Contains(watched, name) && name != m.name && rapid.Bool().Draw(r, "goes")
		}),
	} {
		if decide(r, m, left).GetsTheLock {
			r.Fatalf("%s is to be let in while all that it watches live, %q, among %q", m.name, watched, left)
		}
	}
	if left := without(ahead); !decide(r, m, left).GetsTheLock {
		r.Fatalf("%s is not let in although nobody is ahead of it, among %q", m.name, left)
	}
}

// TestOrderIsTheSameForEverybody has nodes with equal numbers, which a server at its last one
// gives out: every client has the same queue, in whatever order the server lists the nodes.
func TestOrderIsTheSameForEverybody(t *testing.T) {
	mutex := queueLock{rules: mutexRules(StandardLockInternalsDriver{})}
	rw := queueLock{rules: rules{driver: writeDriver{}, children: readWriteKind}}
	for name, c := range map[string]struct {
		lock    *queueLock
		formats []string
	}{"mutex": {&mutex, []string{"%s-lock-%010d"}}, "read-write": {&rw, []string{"%s-__READ__%010d", "%s-__WRIT__%010d"}}} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				node := rapid.Custom(func(r *rapid.T) string {
					format := rapid.SampledFrom(c.formats).Draw(r, "format")
					id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(r, "id")
					return fmt.Sprintf(format, id, rapid.IntRange(2147483645, 2147483647).Draw(r, "number"))
				})
				names := rapid.SliceOfDistinct(node, rapid.ID[string]).Draw(r, "names")
				mine, err := queueOf(c.lock, names)
				theirs, otherErr := queueOf(c.lock, rapid.Permutation(names).Draw(r, "as others list them"))
				if err != nil || otherErr != nil || !slices.Equal(mine, theirs) {
					r.Fatalf("%q and %q, %v and %v", mine, theirs, err, otherErr)
				}
				if !slices.IsSortedFunc(mine, func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) }) {
					r.Fatalf("%q is not in the order of the numbers", mine)
				}
			})
		})
	}
}

// queueOf returns the contenders among names in their order.
func queueOf(l *queueLock, names []string) ([]string, error) {
	if err := l.Check(names); err != nil {
		return nil, err
	}
	return layout.Sort(names, l.Order), nil
}

// order is what a contender sorts a name by.
func (m *member) order(name string) string { return m.lock.driver.FixForSorting(name, m.lock.lockName) }

// TestKindsDoNotMix has every kind meet children of the others.
func TestKindsDoNotMix(t *testing.T) {
	read, write, plain := uuid+layout.ReadMark+"0000000001", uuid+layout.WriteMark+"0000000001", uuid+layout.LockMark+"0000000001"
	for _, c := range []struct {
		children         string
		accepts, refuses []string
	}{
		{mutexKind, []string{plain, "notes"}, []string{read, write, "leases", "locks"}},
		{readWriteKind, []string{read, write, "notes", "lock-"}, []string{plain, "leases", "locks"}},
		{semaphoreV2Kind, []string{"leases", "locks", "notes"}, []string{plain, read, write}},
		{"", []string{"leases", "notes", plain, read, write}, nil},
	} {
		r := mutexRules(StandardLockInternalsDriver{})
		r.children = c.children
		for _, name := range append(slices.Clone(c.accepts), c.refuses...) {
			err := r.Check([]string{name})
			if refused := slices.Contains(c.refuses, name); errors.Is(err, ErrKindMismatch) != refused {
				t.Errorf("%s: %v, want it refused: %t", name, err, refused)
			}
			if err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name %s", err, name)
			}
		}
	}
}

// Inspect, and everything else that lists holders by package layout, sees the holders that the locks let
// in. A writer is let in without the readers of its own number: they are downgraded from it.
func TestHoldersAreThoseLetIn(t *testing.T) {
	standard := StandardLockInternalsDriver{}
	for kind, marks := range map[string][]string{
		layout.KindMutex: {layout.LockMark}, layout.KindLatch: {layout.LatchMark}, layout.KindReadWrite: {layout.ReadMark, layout.WriteMark},
	} {
		rapid.Check(t, func(r *rapid.T) {
			leases := rapid.IntRange(1, 3).Draw(r, "leases")
			var names []string
			for i := range rapid.IntRange(0, 6).Draw(r, "nodes") {
				mark := rapid.SampledFrom(marks).Draw(r, "mark")
				names = append(names, fmt.Sprintf("%c%d-%s%010d", 'a'+rapid.IntRange(0, 3).Draw(r, "name"), i, mark, rapid.IntRange(0, 4).Draw(r, "number")))
			}
			queue := layout.Sort(names, func(name string) string { return layout.LockOrder(kind, name) })
			seen := layout.ReadLockQueue(kind, names, leases)
			for _, name := range queue {
				var driver LockInternalsDriver = standard
				others, most := queue, leases
				switch {
				case kind == layout.KindLatch:
					most = 1
				case layout.IsReader(name):
					driver = readDriver{}
				case layout.IsWriter(name):
					driver, most = writeDriver{}, 1
					others = slices.DeleteFunc(slices.Clone(queue), func(other string) bool {
						return layout.IsReader(other) && layout.ReadWriteNumber(other) == layout.ReadWriteNumber(name)
					})
				}
				if in := driver.GetsTheLock(others, name, most).GetsTheLock; in != slices.Contains(seen.Holders, name) {
					r.Fatalf("%s: of %q with %d leases %s is let in: %t, and the holders are %q", kind, queue, leases, name, in, seen.Holders)
				}
			}
		})
	}
}
