package locks_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

var scripts = flag.Int("scripts", 2, "how many random scripts of each kind of lock are run")

// actor is one acquisition in a random script.
type actor struct {
	*acquisition
	kind   string
	client *framework.Client
	cancel context.CancelFunc
}

func (a *actor) holds() bool { return a.over() && a.lease.Err() == nil }

func (a *actor) waits() bool { return !a.over() }

// side is a kind of lock that may be taken.
type side struct {
	kind string
	open opener
}

// script is a random course of events at one lock, in virtual time. Whenever everything has
// come to rest, those and only those hold the lock whose nodes let them.
type script struct {
	t       *testing.T
	s       *curatortest.Server
	rnd     *rand.Rand
	clients []*framework.Client
	actors  []*actor
	sides   []side                                 // one of them, or the two of a read-write lock
	allowed func(ahead []string, name string) bool // whether a node lets its contender in
	log     []string
}

func (sc *script) note(format string, args ...any) {
	sc.log = append(sc.log, fmt.Sprintf(format, args...))
}

func (sc *script) contend() {
	var opts []locks.Option
	if sc.rnd.IntN(4) == 0 {
		opts = append(opts, locks.WithPlainProtocol())
	}
	i := sc.rnd.IntN(len(sc.clients))
	side := sc.sides[0]
	if len(sc.sides) > 1 {
		side = sc.sides[sc.rnd.IntN(len(sc.sides))]
	}
	sc.note("%s by client %d, plain: %v", side.kind, i, opts != nil)
	ctx, cancel := context.WithCancel(sc.t.Context())
	lock := side.open(sc.t, sc.clients[i], opts...)
	sc.actors = append(sc.actors, &actor{acquiring(ctx, lock), side.kind, sc.clients[i], cancel})
}

// some returns one of the actors that are as wanted, or nil.
func (sc *script) some(wanted func(a *actor) bool) *actor {
	var all []*actor
	for _, a := range sc.actors {
		if wanted(a) {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[sc.rnd.IntN(len(all))]
}

func (sc *script) release(a *actor) {
	if a != nil {
		sc.note("release %s", a.lease.Path())
		if err := a.lease.Release(sc.t.Context()); err != nil && !errors.Is(err, locks.ErrLockLost) {
			sc.t.Error(err)
		}
	}
}

func (sc *script) giveUp(a *actor) {
	if a != nil {
		sc.note("a waiter gives up")
		a.cancel()
		<-a.done
	}
}

// downgrade takes a read lease at the place of a write lease.
func (sc *script) downgrade(a *actor) {
	if a == nil {
		return
	}
	sc.note("downgrade %s", a.lease.Path())
	read, err := openRW(sc.t, a.client).Downgrade(sc.t.Context(), a.lease)
	if errors.Is(err, locks.ErrLockLost) { // by an event just before, which had not been told of
		return
	}
	suite.OK(sc.t, err)
	done := make(chan struct{})
	close(done)
	sc.actors = append(sc.actors, &actor{acquisition: &acquisition{lease: read, done: done}, kind: "read", client: a.client})
}

// node returns a contender's node at random.
func (sc *script) node() string {
	names := sc.s.Children("/lock")
	if len(names) == 0 {
		return ""
	}
	return "/lock/" + names[sc.rnd.IntN(len(names))]
}

func (sc *script) step(operator *framework.Client) {
	switch p := sc.rnd.IntN(100); {
	case p < 40:
		sc.contend()
	case p < 65:
		sc.release(sc.some((*actor).holds))
	case p < 75:
		sc.giveUp(sc.some((*actor).waits))
	case p < 80:
		if node := sc.node(); node != "" {
			sc.note("delete %s", node)
			suite.OK(sc.t, operator.Delete().ForPath(sc.t.Context(), node))
		}
	case p < 85:
		if node := sc.node(); node != "" {
			sc.note("revoke %s", node)
			suite.OK(sc.t, locks.AttemptRevoke(sc.t.Context(), operator, node))
		}
	case p < 92:
		i := sc.rnd.IntN(len(sc.clients))
		sc.note("disconnect client %d", i)
		sc.s.DisconnectSession(sc.clients[i].SessionID())
	case p < 95:
		i := sc.rnd.IntN(len(sc.clients))
		sc.note("expire client %d", i)
		sc.s.ExpireSession(sc.clients[i].SessionID())
	case p < 97:
		sc.downgrade(sc.some(func(a *actor) bool { return a.kind == "write" && a.holds() }))
	default:
		sc.release(sc.some((*actor).holds)) // two events at a time
		sc.giveUp(sc.some((*actor).waits))
	}
}

// check compares who holds the lock with the nodes, when all is at rest.
func (sc *script) check() {
	time.Sleep(5 * time.Second)
	synctest.Wait()
	names := sc.s.Children("/lock")
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	var want, got []string
	for i, name := range names {
		if sc.allowed(names[:i], name) {
			want = append(want, "/lock/"+name)
		}
	}
	waiting := 0
	for _, a := range sc.actors {
		if a.holds() {
			got = append(got, a.lease.Path())
		} else if a.waits() {
			waiting++
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(names) != len(got)+waiting {
		sc.t.Fatalf("held %q, want %q; nodes %q, %d wait\n%s", got, want, names, waiting, strings.Join(sc.log, "\n"))
	}
}

func (sc *script) run(steps int) {
	operator := sc.s.Client(sc.t)
	for range steps {
		sc.step(operator)
		if sc.rnd.IntN(3) > 0 {
			sc.check()
		}
	}
	for range len(sc.actors) + 1 { // a loss may make others of them wait again
		for _, a := range sc.actors {
			if a.holds() {
				sc.release(a)
			}
		}
		sc.check()
	}
	for _, a := range sc.actors {
		_ = a.lease.Release(sc.t.Context()) // those that were lost
	}
	if n := sc.s.Watches(); n != 0 {
		sc.t.Errorf("%d watches are left", n)
	}
}

// Contenders with and without the shortcuts, who give up, lose their connections, sessions and
// nodes, and are asked to let go: never one too many holds the lock, and nobody sleeps who
// should not.
func TestRandomScripts(t *testing.T) {
	t.Parallel() // beside tests that wait in real time
	for name, c := range map[string]struct {
		sides   []side
		allowed func(ahead []string, name string) bool
	}{
		"mutex":     {[]side{{"semaphore of 1", openSemaphore(1)}}, func(ahead []string, _ string) bool { return len(ahead) == 0 }},
		"semaphore": {[]side{{"semaphore of 3", openSemaphore(3)}}, func(ahead []string, _ string) bool { return len(ahead) < 3 }},
		"read-write": {[]side{{"write", openWrite}, {"read", openRead}}, func(ahead []string, name string) bool {
			writer := func(name string) bool { return strings.Contains(name, "__WRIT__") }
			return !slices.ContainsFunc(ahead, func(other string) bool {
				return number(other) != number(name) && (writer(name) || writer(other)) // one it was is not in its way
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*scripts) {
				onVirtual(t, func(t *testing.T, s *curatortest.Server) {
					rnd := rand.New(rand.NewPCG(seed, 1))
					sc := &script{t: t, s: s, rnd: rnd, sides: c.sides, allowed: c.allowed}
					sc.note("seed %d", seed)
					for range 4 {
						sc.clients = append(sc.clients, s.Client(t, sessionPolicy))
					}
					sc.run(60)
				})
			}
		})
	}
}
