package locks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// The row asked of the table in faults_test.go: somebody asks for the lock.

// revocables make the locks that can be asked to let go. The semaphores cannot, as in Java: what
// is written to their nodes must not disturb them. Nor does it disturb a lock that was made
// without the option.
var revocables = map[string]func(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock{
	mutexKind.name:         aRevocableMutex(),
	plainProtocolKind.name: aRevocableMutex(locks.WithPlainProtocol()),
	handoverKind.name:      aRevocableMutex(locks.WithLocalHandover(2)),
	maxHoldKind.name:       aRevocableMutex(locks.WithMaxHold(time.Minute)),
	delayKind.name:         aRevocableMutex(locks.WithLockDelay(10 * time.Millisecond)),
	handedKind.name: func(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
		return &handed{e: e, mutex: e.lock(c, locks.WithLocalHandover(1), opt)}
	},
	readKind.name: func(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
		return e.rw(c, opt).ReadLock()
	},
	writeKind.name:    aRevocableWriteLock,
	behindWriter.name: aRevocableWriteLock,
	downgradeKind.name: func(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
		return &downgrade{rw: e.rw(c, opt)}
	},
	plainDowngradeKind.name: func(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
		return &downgrade{rw: e.rw(c, opt, locks.WithPlainProtocol())}
	},
	multiKinds[0].name: aRevocableMulti,
	multiKinds[1].name: aRevocableMulti,
	multiKinds[2].name: aRevocableMulti,
}

func aRevocableMutex(opts ...locks.MutexOption) func(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
	return func(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
		return e.lock(c, append(slices.Clone(opts), opt)...)
	}
}

func aRevocableMulti(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
	return e.multi(c, opt)
}

func aRevocableWriteLock(e *env, c *framework.Client, opt locks.RevocableOption) locks.InterProcessLock {
	return e.rw(c, opt).WriteLock()
}

// asked is a lock that somebody asks for.
type asked struct {
	*fixture
	listens listening
	told    chan *locks.Lease // whenever the user's function is called, which lets go
}

// listening is what a lock does when it is asked for.
type listening int

const (
	notAtAll listening = iota
	letsGo
	ends // its leases, but it keeps the lock
)

// onAsked runs test for every kind, whatever it does when it is asked. A real server shows it for one
// kind: the question is a change of a node's data.
func onAsked(t *testing.T, kinds []kind, test func(t *testing.T, a *asked), opts ...framework.Option) {
	listenings := map[string]listening{"not listening": notAtAll, "letting go": letsGo, "without a function": ends}
	for name, listens := range listenings {
		asking := kinds
		if listens != notAtAll {
			asking = nil
			for _, k := range kinds {
				if revocables[k.name] != nil {
					asking = append(asking, k)
				}
			}
		}
		t.Run(name, func(t *testing.T) {
			eachKindVirtually(t, asking, func(t *testing.T, f *fixture) {
				a := &asked{fixture: f, listens: listens, told: make(chan *locks.Lease, 10)}
				a.listen()
				test(t, a)
				if n := len(a.told); n != 0 {
					t.Errorf("told %d times too often", n)
				}
			}, opts...)
		})
	}
}

// listen makes the lock that does what it is to do when it is asked.
func (a *asked) listen() {
	fn := func(ctx context.Context, lease *locks.Lease) {
		if err := lease.Release(context.WithoutCancel(ctx)); err != nil { // the lease's ctx ends, and with it the wait
			a.t.Error(err)
		}
		a.told <- lease
	}
	switch a.listens {
	case letsGo:
		a.lock = revocables[a.kind.name](a.env, a.client, locks.WithRevocable(fn))
	case ends:
		a.lock = revocables[a.kind.name](a.env, a.client, locks.WithRevocable(nil))
	}
}

// ask asks for the nodes. That it writes what Java writes is shown by TestInspectOwner.
func (a *asked) ask(paths ...string) {
	for _, path := range paths {
		if err := locks.AttemptRevoke(context.Background(), a.observer, path); err != nil {
			a.t.Error(err)
		}
	}
}

// lets wants the lease to react, once, and ends it.
func (a *asked) lets(lease *locks.Lease) {
	a.t.Helper()
	switch a.listens {
	case letsGo:
		select {
		case told := <-a.told:
			if told != a.struckOf(lease) {
				a.t.Error("told of another lease")
			}
		case <-time.After(20 * time.Second):
			a.t.Fatal("not told")
		}
		suite.WantErr(a.t, lease.Err(), locks.ErrReleased)
	case ends:
		a.lost(lease, locks.LossRevoked)
		a.wantOurs()
		if a.nextWaiter != nil {
			a.waiting(a.nextWaiter)
		}
		a.env.release(lease) // nobody was let in
	case notAtAll:
		if err := lease.Verify(a.t.Context()); err != nil {
			a.t.Errorf("a lease that does not listen: %v", err)
		}
		if a.nextWaiter != nil {
			a.waiting(a.nextWaiter)
		}
		a.env.release(lease)
	}
	if a.nextWaiter != nil {
		a.succeed()
	}
	if a.listens == letsGo {
		a.env.release(lease) // of a multi lock the rest is held still
	}
	a.wantNone()
}

// struckOf returns the lease that others wait for, which of a multi lock's is a part.
func (f *fixture) struckOf(lease *locks.Lease) *locks.Lease {
	if f.kind.multi {
		return lease.Parts()[f.kind.contended]
	}
	return lease
}

// The reply to the create is lost, and somebody asks before the node is found again.
func TestCreateAsked(t *testing.T) {
	onAsked(t, plainKinds, func(t *testing.T, a *asked) {
		a.startHoldersBeside()
		a.prepare()
		hit := a.onCreate(suite.CutAfter, func() { a.ask(a.ours()...) })
		lease := a.take()
		<-hit
		a.lets(lease)
	})
}

// A waiter keeps its place, and reacts when it is granted the lock.
func TestWaitAsked(t *testing.T) {
	onAsked(t, append([]kind{behindWriter}, plainKinds...), func(t *testing.T, a *asked) {
		waiting := a.wait(t.Context())
		paths := a.wantOurs()
		for range 2 {
			a.ask(paths...)
			a.untilWaiting()
			a.waiting(waiting)
		}
		a.releaseHolders()
		lease := a.granted(waiting)
		if a.listens != letsGo {
			a.wantPaths(lease, a.wantOurs())
		}
		a.lets(lease)
	})
}

// A multi lock that hears of it before it has all of its locks gives them back.
func TestCreateMultiAsked(t *testing.T) {
	onAsked(t, multiKinds, func(t *testing.T, a *asked) {
		a.prepare()
		hit := a.onCreate(suite.CutAfter, func() { a.ask(a.contended(a.ours())...) })
		acquiring := a.start(t.Context(), a.lock)
		<-hit
		a.givesUp(acquiring)
	}, sessionPolicy)
}

func TestWaitMultiAsked(t *testing.T) {
	onAsked(t, multiKinds, func(t *testing.T, a *asked) {
		waiting := a.wait(t.Context())
		a.ask(a.contended(a.wantQueued())...)
		a.untilWaiting()
		a.waiting(waiting)
		a.releaseHolders()
		a.givesUp(waiting)
	})
}

// givesUp wants an acquisition to fail if the lock listens, or its lease to react: who does not
// wait hears of it later.
func (a *asked) givesUp(acquiring *acquisition) {
	a.t.Helper()
	<-acquiring.done
	switch err := acquiring.err; {
	case a.listens == notAtAll || err == nil:
		a.lets(a.granted(acquiring))
	case a.listens == ends:
		suite.WantErr(a.t, err, locks.ErrLockLost)
	default:
		suite.WantErr(a.t, err, locks.ErrReleased)
		suite.WantErr(a.t, (<-a.told).Err(), locks.ErrReleased)
	}
	a.wantNone()
}

func TestHoldAsked(t *testing.T) {
	onAsked(t, holders, func(t *testing.T, a *asked) {
		lease := a.hold()
		a.ask(a.contended(a.wantOurs())...)
		a.lets(lease)
	})
}

// It lets go already: nobody is told.
func TestReleaseAsked(t *testing.T) {
	onAsked(t, holders, func(t *testing.T, a *asked) {
		lease := a.hold()
		hit := a.network.On(a.kind.deletes(), suite.Late, func() { a.ask(a.ours()...) })
		a.release(lease)
		<-hit
		a.wantNone()
	})
}
