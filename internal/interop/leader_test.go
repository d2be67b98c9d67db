package interop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

// candidate is a latch or a selector, of either language, at the test's path. It has joined.
type candidate interface {
	leads() bool
	// participants lists the ids, the leader with a "*".
	participants() []string
	// step has a selector end its term, and a latch leave.
	step()
	close()
}

// javaCandidate is one in Java; the recipe is "latch" or "selector".
type javaCandidate struct {
	*javaContender
	path, recipe string
}

func (e *env) javaCandidate(j *jvm, recipe, id string) *javaCandidate {
	e.t.Helper()
	c := &javaCandidate{e.newJava(j), e.path, recipe}
	c.do(recipe+"Start", e.path, id)
	return c
}

func (c *javaCandidate) leads() bool { return c.do(c.recipe+"Leads", c.path) == "true" }

func (c *javaCandidate) participants() (ids []string) {
	for p := range strings.FieldsSeq(c.do(c.recipe+"Participants", c.path)) {
		id, leads, _ := strings.Cut(p, "=")
		if leads == "true" {
			id += "*"
		}
		ids = append(ids, id)
	}
	return ids
}

func (c *javaCandidate) step() {
	if c.recipe == "latch" {
		c.close()
		return
	}
	c.do("selectorStep", c.path)
}

func (c *javaCandidate) close() { c.do(c.recipe+"Close", c.path) }

// goIDs are the participants of either recipe.
func goIDs(e *env, participants func(ctx context.Context) ([]leader.Participant, error)) (ids []string) {
	e.t.Helper()
	all, err := participants(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	for _, p := range all {
		if p.Leader {
			p.ID += "*"
		}
		ids = append(ids, p.ID)
	}
	return ids
}

type goLatch struct {
	e *env
	*leader.LeaderLatch
}

func (e *env) goLatch(id string) *goLatch {
	e.t.Helper()
	latch, err := leader.NewLeaderLatch(e.longClient(), e.path, leader.WithID(id))
	if err == nil {
		err = latch.Start(e.t.Context())
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return &goLatch{e, latch}
}

func (c *goLatch) leads() bool            { return c.Leadership().Err() == nil }
func (c *goLatch) participants() []string { return goIDs(c.e, c.Participants) }
func (c *goLatch) step()                  { c.close() }

func (c *goLatch) close() {
	c.e.t.Helper()
	if err := c.Close(c.e.t.Context()); err != nil {
		c.e.t.Fatal(err)
	}
}

type goSelector struct {
	e *env
	*leader.LeaderSelector
	steps chan struct{}
	stop  context.CancelFunc
	ended chan error
}

func (e *env) goSelector(id string) *goSelector {
	e.t.Helper()
	selector, err := leader.NewLeaderSelector(e.longClient(), e.path, leader.WithID(id))
	if err != nil {
		e.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(e.t.Context())
	c := &goSelector{e, selector, make(chan struct{}), stop, make(chan error, 1)}
	go func() {
		c.ended <- selector.Run(ctx, func(ctx context.Context, _ *locks.Lease) error {
			select {
			case <-c.steps:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	return c
}

func (c *goSelector) leads() bool            { return c.Leadership().Err() == nil }
func (c *goSelector) participants() []string { return goIDs(c.e, c.Participants) }
func (c *goSelector) step()                  { c.steps <- struct{}{} }

func (c *goSelector) close() {
	c.e.t.Helper()
	c.stop()
	if err := <-c.ended; err != nil {
		c.e.t.Fatal(err)
	}
}

// candidates joins candidates of the languages, one behind the other, with ids such as "J0".
func (e *env) candidates(recipe, languages string) (all []candidate, ids []string) {
	e.t.Helper()
	for i, language := range languages {
		id := fmt.Sprintf("%c%d", language, i)
		switch {
		case language == 'J':
			all = append(all, e.javaCandidate(e.jvm, recipe, id))
		case recipe == "latch":
			all = append(all, e.goLatch(id))
		default:
			all = append(all, e.goSelector(id))
		}
		ids = append(ids, id)
		suite.Eventually(e.t, "the node of "+id, func() bool { return len(e.nodes()) == i+1 })
	}
	return all, ids
}

// wantLeader waits until the candidate leads, and nobody else does.
func (e *env) wantLeader(all []candidate, leader candidate) {
	e.t.Helper()
	suite.Eventually(e.t, "the next leader", leader.leads)
	for i, c := range all {
		if c != leader && c.leads() {
			e.t.Errorf("candidate %d leads, too", i)
		}
	}
}

// wantParticipants wants everybody to see these, the first one as the leader.
func (e *env) wantParticipants(all []candidate, ids ...string) {
	e.t.Helper()
	want := slices.Clone(ids)
	want[0] += "*"
	for i, c := range all {
		var got []string
		suite.Eventually(e.t, fmt.Sprintf("candidate %d to see %q", i, want), func() bool {
			got = c.participants()
			return slices.Equal(got, want)
		})
	}
}

func (e *env) untilNoNodes() {
	e.t.Helper()
	suite.Eventually(e.t, "the end of the nodes", func() bool { return len(e.nodes()) == 0 })
}

// Latches of both languages are elected in the order of joining, and see each other's ids.
func TestLeaderLatches(t *testing.T) {
	t.Parallel()
	for _, languages := range []string{"JG", "GJ", "JGJGJG", "GGJJ"} {
		t.Run(languages, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			all, ids := e.candidates("latch", languages)
			for len(all) > 0 {
				e.wantLeader(all, all[0])
				e.wantParticipants(all, ids...)
				all[0].step()
				all, ids = all[1:], ids[1:]
			}
			e.untilNoNodes() // Java deletes in the background
		})
	}
}

// Selectors of both languages lead by turns, and see each other's ids.
func TestLeaderSelectors(t *testing.T) {
	t.Parallel()
	for _, languages := range []string{"JG", "GJ", "JGJG"} {
		t.Run(languages, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			all, ids := e.candidates("selector", languages)
			for range 2 * len(all) {
				e.wantLeader(all, all[0])
				e.wantParticipants(all, ids...)
				all[0].step()
				all, ids = append(all[1:], all[0]), append(ids[1:], ids[0])
				suite.Eventually(t, "the former leader to stand again", func() bool { return len(e.nodes()) == len(all) })
			}
			for _, c := range slices.Backward(all) {
				c.close()
			}
			e.untilNoNodes()
		})
	}
}

// A selector shares its path with a mutex of the other language.
func TestLeaderSelectorBesideMutex(t *testing.T) {
	t.Parallel()
	t.Run("Java's mutex", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t)
		mutex := e.newJava(e.jvm)
		e.acquire(mutex)
		selector := e.goSelector("G")
		suite.Eventually(t, "the selector's node", func() bool { return len(e.nodes()) == 2 })
		if selector.leads() {
			t.Error("the selector leads while the mutex is held")
		}
		mutex.release()
		e.wantLeader(nil, selector)
		if got := mutex.try(0); got != "" {
			t.Errorf("the mutex was let in with %q", got)
		}
		grant := e.queue(mutex)
		selector.step()
		e.wait(grant)
		if selector.leads() {
			t.Error("the selector leads while the mutex is held")
		}
		mutex.release()
		e.wantLeader(nil, selector)
		selector.close()
		e.wantNodes()
	})
	t.Run("Java's selector", func(t *testing.T) {
		t.Parallel()
		e := newEnv(t)
		selector, mutex := e.javaCandidate(e.jvm, "selector", "J"), e.newGo()
		e.wantLeader(nil, selector)
		if got := mutex.try(0); got != "" {
			t.Errorf("the mutex was let in with %q", got)
		}
		grant := e.queue(mutex)
		selector.step()
		e.wait(grant)
		suite.Eventually(t, "the selector behind the mutex", func() bool { return len(e.nodes()) == 2 })
		if selector.leads() {
			t.Error("the selector leads while the mutex is held")
		}
		mutex.release()
		e.wantLeader(nil, selector)
		selector.close()
		e.untilNoNodes()
	})
}

// A latch in Java whose process dies is succeeded when its session ends.
func TestLeaderDies(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	java := e.javaCandidate(e.ownJVM(), "latch", "J")
	e.wantLeader(nil, java)
	latch := e.goLatch("G")
	java.jvm.kill()
	e.wantLeader(nil, latch)
	e.wantParticipants([]candidate{latch}, "G")
	latch.close()
}

// The nodes are deleted by an operator. A latch in Java does not notice, and goes on to report
// that it leads (rule L12): the nodes say who does. A latch in Go stands again at the end.
func TestLeaderRuleL12(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	java := e.javaCandidate(e.jvm, "latch", "J")
	e.wantLeader(nil, java)
	latch := e.goLatch("G")
	remove := func() {
		t.Helper()
		if err := e.observer.Delete().ForPath(t.Context(), e.nodes()[0]); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	suite.Eventually(t, "the latch in Go to lead", latch.leads)
	if !java.leads() {
		t.Error("Java's latch has noticed: correct rule L12 in the documentation of package leader")
	}
	e.wantParticipants([]candidate{latch, java}, "G")
	if leads := java.do("latchLeader", e.path); leads != "G" {
		t.Errorf("to Java, %q leads", leads)
	}
	lease := latch.Leadership()
	if _, err := lease.Guard(t.Context()); err != nil {
		t.Error(err)
	}
	remove()
	<-lease.Context().Done()
	if _, err := lease.Guard(t.Context()); !errors.Is(err, locks.ErrLockLost) {
		t.Errorf("Guard: %v", err)
	}
	suite.Eventually(t, "the latch in Go to lead again", latch.leads)
	latch.close()
	java.close()
}

// A latch refuses the path of Java's locks, and a lock that of Java's latch.
func TestLeaderKindMismatch(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	mutex := e.newJava(e.jvm)
	e.acquire(mutex)
	latch, err := leader.NewLeaderLatch(e.longClient(), e.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := latch.Start(t.Context()); !errors.Is(err, locks.ErrKindMismatch) {
		t.Errorf("Start: %v", err)
	}
	mutex.release()
	e.wantNodes()
	java := e.javaCandidate(e.jvm, "latch", "J")
	e.wantLeader(nil, java)
	ours, err := locks.NewInterProcessMutex(e.longClient(), e.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Acquire(t.Context()); !errors.Is(err, locks.ErrKindMismatch) {
		t.Errorf("Acquire: %v", err)
	}
	java.close()
}
