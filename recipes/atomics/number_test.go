package atomics_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// A5, A2: the bytes are those of Java, and what is no number is an error with the bytes in it.
func TestBytes(t *testing.T) {
	onServers(t, func(e *env) {
		short := suite.Got(atomics.NewDistributedAtomicInteger(e.client, e.path, often)).OK(e.t)
		if n, err := e.number.Get(e.t.Context()); n != 0 || err != nil {
			e.t.Errorf("no node is %d, %v", n, err)
		}
		for _, row := range []struct {
			data        string
			long, short any // a number, or the error
		}{
			{"", int64(0), int32(0)},
			{"\xff\xff\xff\xff\xff\xff\xff\xfe", int64(-2), int32(-1)},
			{"\x00\x00\x01\x02", codec.ErrDecode, int32(258)},
			{"abc", codec.ErrDecode, codec.ErrDecode},
			{"\x00\x00\x00\x00\x00\x00\x00\x05more", int64(5), int32(0)},
		} {
			e.write(row.data)
			long, longErr := e.number.Get(e.t.Context())
			if want, ok := row.long.(error); ok && !errors.Is(longErr, want) || !ok && long != row.long {
				e.t.Errorf("%x is %d, %v", row.data, long, longErr)
			}
			four, shortErr := short.Get(e.t.Context())
			if want, ok := row.short.(error); ok && !errors.Is(shortErr, want) || !ok && four != row.short {
				e.t.Errorf("%x is %d, %v in four bytes", row.data, four, shortErr)
			}
		}
		e.write("abc")
		_, err := e.number.Increment(e.t.Context())
		e.wantErr(err, codec.ErrDecode, false)
		_, err = e.number.CompareAndSet(e.t.Context(), 0, 1)
		e.wantErr(err, codec.ErrDecode, false)
		suite.OK(e.t, e.number.ForceSet(e.t.Context(), -2))
		data, err := e.value.Get(e.t.Context())
		if string(data) != "\xff\xff\xff\xff\xff\xff\xff\xfe" || err != nil {
			e.t.Errorf("-2 is %x, %v", data, err)
		}
		suite.OK(e.t, short.ForceSet(e.t.Context(), 258))
		if data, err = e.value.Get(e.t.Context()); string(data) != "\x00\x00\x01\x02" || err != nil {
			e.t.Errorf("258 is %x, %v", data, err)
		}
	})
}

// A3, and what Initialize and CompareAndSet say.
func TestCompareAndSet(t *testing.T) {
	onServers(t, func(e *env) {
		want := func(got bool, err error, want bool) {
			e.t.Helper()
			if got != want || err != nil {
				e.t.Fatalf("%t, %v; want %t", got, err, want)
			}
		}
		ok, err := e.number.CompareAndSet(e.t.Context(), 0, 1)
		want(ok, err, false) // there is no node
		ok, err = e.number.Initialize(e.t.Context(), 5)
		want(ok, err, true)
		ok, err = e.number.Initialize(e.t.Context(), 6)
		want(ok, err, false)
		ok, err = e.number.CompareAndSet(e.t.Context(), 0, 1)
		want(ok, err, false)
		ok, err = e.number.CompareAndSet(e.t.Context(), 5, 7)
		want(ok, err, true)
		ok, err = e.value.CompareAndSet(e.t.Context(), []byte{7}, nil)
		want(ok, err, false)
		hit := e.network.On(jute.OpSetData, suite.Late, func() { e.write("\x00\x00\x00\x00\x00\x00\x00\x07") })
		ok, err = e.number.CompareAndSet(e.t.Context(), 7, 8)
		want(ok, err, false) // written in between, though with the same number
		<-hit
		e.wantOnServer(7)
	})
}

func TestArithmetic(t *testing.T) {
	onServers(t, func(e *env) {
		e.add(10, 10)
		e.add(-3, 7)
		e.add(0, 7)
		out, err := e.number.Decrement(e.t.Context())
		if err != nil || out.Pre != 7 || out.Post != 6 || out.Stats.OptimisticTries != 1 || out.Stats.PromotedTries != 0 {
			e.t.Errorf("%+v, %v", out, err)
		}
		if out, err = e.number.Increment(e.t.Context()); err != nil || out.Post != 7 {
			e.t.Errorf("%+v, %v", out, err)
		}
		for _, row := range []struct{ number, delta int64 }{
			{math.MaxInt64, 1}, {math.MinInt64, -1}, {1, math.MaxInt64}, {-2, math.MinInt64}, {math.MinInt64, math.MinInt64},
		} {
			suite.OK(e.t, e.number.ForceSet(e.t.Context(), row.number))
			_, err := e.number.Add(e.t.Context(), row.delta)
			e.wantErr(err, atomics.ErrOverflow, false)
			e.wantOnServer(row.number)
		}
		suite.OK(e.t, e.number.ForceSet(e.t.Context(), 1))
		e.add(math.MinInt64, math.MinInt64+1)
		mine := errors.New("mine")
		_, err = e.number.Update(e.t.Context(), func(int64) (int64, error) { return 0, mine })
		e.wantErr(err, mine, false)
		e.wantOnServer(math.MinInt64 + 1)
	})
}

// A1: two writers with promotion lose nothing, and count nothing twice.
func TestTwoWriters(t *testing.T) {
	const each = 1000
	inVirtualTime(t, func(e *env) {
		var writers sync.WaitGroup
		for range 2 {
			client, _ := e.b.Client(e.t)
			lock := suite.Got(locks.NewInterProcessMutex(client, e.path+"-lock")).OK(e.t)
			n := e.newLong(client, retry.NTimes(2, time.Millisecond), atomics.WithPromotedToLock(lock, often))
			writers.Go(func() {
				for range each {
					if _, err := n.Increment(e.t.Context()); err != nil {
						e.t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		e.wantOnServer(2 * each)
	})
}

// Eight writers, on every server.
func TestManyWriters(t *testing.T) {
	onServers(t, func(e *env) {
		const writers, each = 8, 20
		var adding sync.WaitGroup
		for range writers {
			client, _ := e.b.Client(e.t)
			n := e.newLong(client, often)
			adding.Go(func() {
				for range each {
					if _, err := n.Increment(e.t.Context()); err != nil {
						e.t.Error(err)
					}
				}
			})
		}
		adding.Wait()
		e.wantOnServer(writers * each)
	})
}

// The node is made where there is none, with its parents as containers.
func TestCreates(t *testing.T) {
	t.Parallel()
	suite.EachReaping(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.add(1, 1)
		suite.OK(e.t, e.other.Delete().ForPath(t.Context(), e.path))
		suite.Eventually(t, "the parent to be removed", func() bool {
			there, err := e.other.CheckExists().ForPath(t.Context(), e.path[:len(e.path)-len("/counter")])
			return err == nil && !there
		})
		e.add(1, 1)
	})
}

// A conflict that only a remembered value has met is no try: without a retry policy a change succeeds when
// nobody else changes the number at the same time, and fails when somebody does.
func TestRememberedValueIsNoTry(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		n := e.newLong(e.client, retry.None())
		for range 2 {
			suite.Got(n.Increment(e.t.Context())).OK(e.t)
		}
		change := func() { e.write("\x00\x00\x00\x00\x00\x00\x00\x07") }
		change()
		out := suite.Got(n.Increment(e.t.Context())).OK(e.t)
		if out.Pre != 7 || out.Post != 8 || out.Stats.OptimisticTries != 1 {
			e.t.Errorf("%+v, want from 7 to 8 in one try", out)
		}
		suite.OK(e.t, n.ForceSet(e.t.Context(), 1))
		e.network.On(jute.OpSetData, suite.Late, change)
		e.network.On(jute.OpSetData, suite.Late, change)
		_, err := n.Increment(e.t.Context())
		e.wantErr(err, atomics.ErrContended, false)
		e.wantOnServer(7)
	})
}

// A number that is deleted and set up again while a process remembers it: at the first version nothing is
// remembered, so that the new number counts. Later versions can be mistaken for the old node's, which is
// logged, and then nothing is remembered either.
func TestNumberSetUpAgain(t *testing.T) {
	onServers(t, func(e *env) {
		setUp := func(writes int) {
			suite.OK(e.t, e.other.Delete().ForPath(e.t.Context(), e.path))
			for range writes {
				e.write("\x00\x00\x00\x00\x00\x00\x00\x64")
			}
		}
		e.add(1, 1)
		setUp(1)
		e.add(1, 101)
		log := &suite.Log{}
		client, _ := e.b.Client(e.t, framework.WithLogger(log.Warnings()))
		suite.OK(e.t, client.BlockUntilConnected(e.t.Context()))
		e.number = e.newLong(client, often)
		e.add(1, 102)
		e.add(1, 103)
		version := func() int { return strings.Count(log.String(), e.path) }
		setUp(4)
		e.add(1, 104) // of the old node's 103: a set names a version, and no node
		suite.Eventually(e.t, "a warning", func() bool { return version() == 1 })
		e.write("\x00\x00\x00\x00\x00\x00\x00\x64")
		e.add(1, 101)
		if version() != 1 {
			e.t.Errorf("logged: %s", log)
		}
	})
}

// What the servers had before they lost their data is not taken for what they have, and what is written
// since is remembered although its zxids are lower.
func TestNumberAfterDataLoss(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		hundred := func(writes int) {
			for range writes {
				e.write("\x00\x00\x00\x00\x00\x00\x00\x64")
			}
		}
		for range 20 {
			hundred(1)
		}
		e.add(1, 101)
		e.add(1, 102)
		suite.OK(e.t, e.other.Delete().ForPath(e.t.Context(), e.path))
		hundred(3)
		e.add(1, 101)
		e.add(1, 102) // remembered for ten seconds
		begin, seen := time.Now(), e.client.LastZxid()
		e.b.Server().RestartEmpty()
		suite.Eventually(e.t, "the clients have noticed", func() bool {
			_, err := e.other.CheckExists().ForPath(e.t.Context(), e.path)
			return err == nil && e.client.LastZxid() > 0 && e.client.LastZxid() < seen
		})
		hundred(5) // it has the version of the value that was remembered
		if took := time.Since(begin); took > 9*time.Second {
			e.t.Fatalf("after %v nothing is remembered anyway", took)
		}
		e.add(1, 101)
		before := e.network.Requests(jute.OpGetData)
		for want := int64(102); want < 110; want++ {
			e.add(1, want)
		}
		if n := e.network.Requests(jute.OpGetData) - before; n != 0 {
			e.t.Errorf("%d reads of a number that nobody else changes", n)
		}
	})
}

// So it is after a restart on an older snapshot.
func TestNumberAfterRestoredSnapshot(t *testing.T) {
	suite.Twins(t, func(t *testing.T, first, second *suite.Backend, restore func()) {
		e, older := newEnv(t, first), newEnv(t, second)
		const seven, hundred = "\x00\x00\x00\x00\x00\x00\x00\x07", "\x00\x00\x00\x00\x00\x00\x00\x64"
		for _, twin := range []*env{e, older} {
			twin.write(seven)
			twin.write(seven)
		}
		parent, _ := paths.ParentAndNode(e.path)
		for range 30 {
			suite.Got(e.other.SetData().ForPath(t.Context(), parent, nil)).OK(e.t)
		}
		e.add(1, 8)
		e.add(1, 9) // remembered for ten seconds
		begin, seen := time.Now(), e.client.LastZxid()
		restore()
		older.write(hundred)
		older.write(hundred) // it has the version of the value that was remembered
		suite.Eventually(t, "the client has noticed", func() bool {
			return e.client.LastZxid() > 0 && e.client.LastZxid() < seen
		})
		if took := time.Since(begin); took > 9*time.Second {
			t.Fatalf("after %v nothing is remembered anyway", took)
		}
		e.add(1, 101)
	})
}
