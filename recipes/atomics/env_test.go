package atomics_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/retry"
)

// often is a policy for tests in which others change the number, too.
var often = retry.NTimes(1000, time.Millisecond)

// env is a counter on a client with faults, and another client whose network is sound.
type env struct {
	t       *testing.T
	b       *suite.Backend
	path    string
	client  *framework.Client
	network *suite.Network
	number  *atomics.DistributedAtomicLong
	value   *atomics.DistributedAtomicValue // at the same path
	other   *framework.Client
}

func newEnv(t *testing.T, b *suite.Backend, opts ...framework.Option) *env {
	t.Helper()
	e := &env{t: t, b: b, path: b.Path("counter")}
	e.other, _ = b.Client(t)
	e.client, e.network = b.Client(t, opts...)
	suite.OK(e.t, e.client.BlockUntilConnected(t.Context()))
	e.number = e.newLong(e.client, often)
	e.value = suite.Got(atomics.NewDistributedAtomicValue(e.client, e.path, often)).OK(e.t)
	return e
}

func (e *env) newLong(client *framework.Client, policy retry.Policy, opts ...atomics.Option) *atomics.DistributedAtomicLong {
	e.t.Helper()
	n := suite.Got(atomics.NewDistributedAtomicLong(client, e.path, policy, opts...)).OK(e.t)
	return n
}

func onServers(t *testing.T, test func(e *env)) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) { test(newEnv(t, b)) })
}

func inVirtualTime(t *testing.T, test func(e *env)) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) { test(newEnv(t, b)) })
}

func (e *env) wantErr(err, want error, maybeApplied bool) {
	e.t.Helper()
	if !errors.Is(err, want) {
		e.t.Fatalf("the error is %v, want %v", err, want)
	}
	if framework.MaybeApplied(err) != maybeApplied {
		e.t.Fatalf("%v: it may have been applied: %t", err, !maybeApplied)
	}
}

// write sets the node's data by another client, and makes the node if there is none.
func (e *env) write(data string) {
	e.t.Helper()
	suite.Got(e.other.Create().OrSetData().CreatingParentsIfNeeded().WithData([]byte(data)).ForPath(e.t.Context(), e.path)).OK(e.t)
}

// onServer returns the number that the server has.
func (e *env) onServer() int64 {
	e.t.Helper()
	n := suite.Got(e.newLong(e.other, retry.None()).Get(e.t.Context())).OK(e.t)
	return n
}

// wantOnServer fails if the server has another number.
func (e *env) wantOnServer(want int64) {
	e.t.Helper()
	if n := e.onServer(); n != want {
		e.t.Fatalf("the server has %d, want %d", n, want)
	}
}

// add adds delta, and wants the number to be as said.
func (e *env) add(delta, want int64) {
	e.t.Helper()
	out := suite.Got(e.number.Add(e.t.Context(), delta)).OK(e.t)
	if out.Post != want || out.Pre != want-delta {
		e.t.Fatalf("from %d to %d, want %d", out.Pre, out.Post, want)
	}
}
