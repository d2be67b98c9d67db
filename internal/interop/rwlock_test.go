package interop_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// rwContender is a client, of either language, of the test's read-write lock. It holds
// each side at most once.
type rwContender interface {
	session() int64
	enter(side string) *answer
	try(side string) bool
	exit(side string)
	nodes(side string) []string
}

const (
	reading = "read"
	writing = "write"
)

// goReadWriter uses this module.
type goReadWriter struct {
	e       *env
	client  *framework.Client
	network *suite.Network
	rw      *locks.InterProcessReadWriteLock
	leases  map[string]*locks.Lease
}

func (e *env) goReadWriter() *goReadWriter {
	e.t.Helper()
	client, network := e.b.Client(e.t)
	rw, err := locks.NewInterProcessReadWriteLock(client, e.path)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := client.BlockUntilConnected(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	return &goReadWriter{e: e, client: client, network: network, rw: rw, leases: map[string]*locks.Lease{}}
}

func (c *goReadWriter) session() int64 { return c.client.SessionID() }

func (c *goReadWriter) side(side string) locks.InterProcessLock {
	if side == reading {
		return c.rw.ReadLock()
	}
	return c.rw.WriteLock()
}

func (c *goReadWriter) enter(side string) *answer {
	a := newAnswer()
	go func() {
		lease, err := c.side(side).Acquire(c.e.t.Context())
		c.leases[side] = lease
		a.give("", err)
	}()
	c.e.t.Cleanup(func() { <-a.done })
	return a
}

func (c *goReadWriter) try(side string) bool {
	c.e.t.Helper()
	lease, err := c.side(side).TryAcquire(c.e.t.Context())
	if err != nil && !errors.Is(err, locks.ErrNotAcquired) {
		c.e.t.Fatal(err)
	}
	c.leases[side] = lease
	return err == nil
}

func (c *goReadWriter) exit(side string) {
	c.e.t.Helper()
	if err := c.leases[side].Release(c.e.t.Context()); err != nil {
		c.e.t.Fatal(err)
	}
}

func (c *goReadWriter) nodes(side string) []string {
	c.e.t.Helper()
	list := c.rw.WriteLock().ParticipantNodes
	if side == reading {
		list = c.rw.ReadLock().ParticipantNodes
	}
	nodes, err := list(c.e.t.Context())
	if err != nil {
		c.e.t.Fatal(err)
	}
	return nodes
}

// javaReadWriter is a peer in a JVM.
type javaReadWriter struct{ *javaContender }

func (c javaReadWriter) enter(side string) *answer {
	return c.jvm.request(c.name, "rwAcquire", c.e.path, side)
}

func (c javaReadWriter) try(side string) bool {
	c.e.t.Helper()
	return c.do("rwTry", c.e.path, side) != ""
}

func (c javaReadWriter) exit(side string) {
	c.e.t.Helper()
	c.do("rwRelease", c.e.path, side)
}

func (c javaReadWriter) nodes(side string) []string {
	c.e.t.Helper()
	return strings.Fields(c.do("rwParticipants", c.e.path, side))
}

func (e *env) readWriter(language byte) rwContender {
	e.t.Helper()
	if language == 'J' {
		return javaReadWriter{e.newJava(e.jvm)}
	}
	return e.goReadWriter()
}

// visitor is one who is in the lock or waits for it.
type visitor struct {
	rwContender
	side  string
	node  string
	grant *answer
}

// visit has a contender enter one side, and waits until it is in or waits for somebody.
func (e *env) visit(c rwContender, side string, mustWait bool) *visitor {
	e.t.Helper()
	ahead := e.nodes()
	v := &visitor{rwContender: c, side: side, grant: c.enter(side)}
	suite.Eventually(e.t, "a node at the end of the queue", func() bool { return len(e.nodes()) == len(ahead)+1 })
	v.node = e.nodes()[len(ahead)]
	if !mustWait {
		e.wait(v.grant)
		return v
	}
	suite.Eventually(e.t, "a watch on a node ahead", func() bool {
		e.notYet(v.grant)
		return slices.ContainsFunc(ahead, func(node string) bool { return slices.Contains(e.watchers(node), c.session()) })
	})
	return v
}

// isIn tells, from who is ahead, whether the last of a queue is to be in.
func isIn(queue []*visitor, side string) bool {
	return len(queue) == 0 || side == reading && !slices.ContainsFunc(queue, func(v *visitor) bool { return v.side == writing })
}

// Readers and writers of both languages form one line: readers that follow each other are
// in together, a writer is alone, and nobody overtakes.
func TestReadWriteQueue(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"Gw Jr", "Jw Gr", "Gr Jw", "Jr Gw", "Gw Jw Gw", "Jr Gr Jw Gr Jr Gw Jw Gr"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			var queue []*visitor
			for who := range strings.FieldsSeq(line) {
				side := map[byte]string{'r': reading, 'w': writing}[who[1]]
				queue = append(queue, e.visit(e.readWriter(who[0]), side, !isIn(queue, side)))
			}
			for len(queue) > 0 {
				var nodes []string
				for i, v := range queue {
					nodes = append(nodes, v.node)
					if isIn(queue[:i], v.side) {
						e.wait(v.grant)
					} else {
						e.notYet(v.grant)
					}
				}
				e.wantNodes(nodes...)
				queue[0].exit(queue[0].side)
				queue = queue[1:]
			}
			e.wantNodes()
		})
	}
}

// Who does not want to wait is told that the lock is busy, and leaves nothing behind; each
// side lists the same nodes to both languages.
func TestReadWriteTry(t *testing.T) {
	t.Parallel()
	for _, languages := range []string{"JG", "GJ"} {
		t.Run(languages, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			holder, other := e.readWriter(languages[0]), e.readWriter(languages[1])
			for _, c := range []struct {
				held          string
				reads, writes bool
			}{{reading, true, false}, {writing, false, false}} {
				e.wait(holder.enter(c.held))
				for side, free := range map[string]bool{reading: c.reads, writing: c.writes} {
					if got := other.try(side); got != free {
						t.Errorf("to %s beside %s: let in %t, want %t", side, c.held, got, free)
					}
					for _, list := range []string{reading, writing} {
						mine, theirs := holder.nodes(list), other.nodes(list)
						want := 0
						if list == c.held {
							want++
						}
						if free && list == side {
							want++
						}
						if !slices.Equal(mine, theirs) || len(mine) != want {
							t.Errorf("participants %q and %q, want %d to %s", mine, theirs, want, list)
						}
					}
					if free {
						other.exit(side)
					}
				}
				holder.exit(c.held)
				e.wantNodes()
			}
		})
	}
}

// A writer that becomes a reader keeps writers of the other language out, also those that
// waited before. Java Curator before 5.5 keeps out those that come later.
func TestReadWriteDowngrade(t *testing.T) {
	t.Parallel()
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t)
		holder := e.goReadWriter()
		e.wait(holder.enter(writing))
		writer := e.visit(e.readWriter('J'), writing, true)
		reader := e.visit(e.readWriter('J'), reading, true)
		read, err := holder.rw.Downgrade(t.Context(), holder.leases[writing])
		if err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "a watch on the reader's node", func() bool {
			e.notYet(writer.grant)
			return slices.Contains(e.watchers(read.Path()), writer.session())
		})
		e.notYet(reader.grant)
		if err := read.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.wait(writer.grant)
		e.notYet(reader.grant)
		writer.exit(writing)
		e.wait(reader.grant)
		reader.exit(reading)
		e.wantNodes()
	})
	t.Run("Java", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t)
		holder := e.readWriter('J')
		e.wait(holder.enter(writing))
		e.wait(holder.enter(reading))
		reader := e.visit(e.readWriter('G'), reading, true)
		writer := e.visit(e.readWriter('G'), writing, true)
		holder.exit(writing)
		e.wait(reader.grant)
		e.notYet(writer.grant)
		reader.exit(reading)
		e.notYet(writer.grant)
		holder.exit(reading)
		e.wait(writer.grant)
		writer.exit(writing)
		e.wantNodes()
	})
}

// A Java writer that is killed hands the lock to a reader in Go, and a Go reader that
// nothing is heard of to a writer in Java.
func TestReadWriteCrash(t *testing.T) {
	t.Parallel()
	t.Run("Java", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t)
		own := e.ownJVM()
		e.visit(javaReadWriter{e.newJava(own)}, writing, false)
		reader := e.visit(e.readWriter('G'), reading, true)
		own.kill()
		e.wait(reader.grant)
		e.wantNodes(reader.node)
		reader.exit(reading)
		e.wantNodes()
	})
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t)
		holder := e.goReadWriter()
		e.visit(holder, reading, false)
		writer := e.visit(e.readWriter('J'), writing, true)
		heal := holder.network.Isolate()
		e.wait(writer.grant)
		if err := holder.leases[reading].Err(); !errors.Is(err, locks.ErrLockLost) {
			t.Errorf("Java has the lock, and to Go its own lease is: %v", err)
		}
		heal()
		if err := holder.leases[reading].Release(t.Context()); !errors.Is(err, locks.ErrLockLost) {
			t.Errorf("release of the lost lease: %v", err)
		}
		e.wantNodes(writer.node)
		writer.exit(writing)
		e.wantNodes()
	})
}
