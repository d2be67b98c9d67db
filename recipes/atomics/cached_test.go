package atomics_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/retry"
)

// newIDs returns a source of numbers on the environment's client.
func (e *env) newIDs(size int64) *atomics.CachedAtomicLong {
	e.t.Helper()
	ids := suite.Got(atomics.NewCachedAtomicNumber(e.number, size)).OK(e.t)
	return ids
}

// Blocks never overlap, whatever becomes of replies, sessions and processes.
func TestBlocksNeverOverlap(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inVirtualTime(t, func(e *env) {
				ctx, cancel := context.WithTimeout(e.t.Context(), 10*time.Second)
				defer cancel()
				var mu sync.Mutex
				taken := map[int64]int{}
				var running sync.WaitGroup
				for id := range uint64(clients) {
					running.Go(func() {
						random := rand.New(rand.NewPCG(seed, id))
						for ctx.Err() == nil { // one life of a process after the other
							takeUntilKilled(ctx, e, random, func(n int64) {
								mu.Lock()
								defer mu.Unlock()
								taken[n]++
							})
						}
					})
				}
				running.Wait()
				for n, times := range taken {
					if times != 1 {
						e.t.Errorf("%d was given out %d times", n, times)
					}
				}
				if len(taken) < 500 {
					e.t.Errorf("only %d numbers", len(taken))
				}
			})
		})
	}
}

// takeUntilKilled takes numbers with several goroutines of a client that ends without a word.
func takeUntilKilled(ctx context.Context, e *env, random *rand.Rand, take func(n int64)) {
	c, network := e.b.Client(e.t)
	ids := suite.Got(atomics.NewCachedAtomicNumber(e.newLong(c, often), 7)).OK(e.t)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var taking sync.WaitGroup
	for range 3 {
		taking.Go(func() {
			for ctx.Err() == nil {
				if n, err := ids.Next(ctx); err == nil {
					take(n)
				}
				_ = wait.For(ctx, 5*time.Millisecond)
			}
		})
	}
	disturb(ctx, e.t, random, c, network)
	heal := network.Isolate()
	taking.Wait()
	heal()
}

// Callers that wait for a block wait for one, and one that leaves does not fail the others.
func TestCallersShareABlock(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		ids := e.newIDs(100)
		e.write("")
		release := make(chan struct{})
		hit := e.network.On(jute.OpSetData, suite.Late, func() { <-release })
		leaving, leave := context.WithCancel(e.t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := ids.Next(leaving)
			left <- err
		}()
		synctest.Wait()
		var mu sync.Mutex
		var numbers []int64
		var others sync.WaitGroup
		for range 10 {
			others.Go(func() {
				n, err := ids.Next(e.t.Context())
				if err != nil {
					e.t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				numbers = append(numbers, n)
			})
		}
		synctest.Wait()
		leave()
		e.wantErr(<-left, context.Canceled, false)
		close(release)
		<-hit
		others.Wait()
		slices.Sort(numbers)
		if !slices.Equal(numbers, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			e.t.Errorf("numbers %v", numbers)
		}
		e.wantOnServer(100)
	})
}

// A block whose reply was lost is abandoned.
func TestBlockInDoubt(t *testing.T) {
	onServers(t, func(e *env) {
		e.write("")
		ids := e.newIDs(10)
		hit := e.network.On(jute.OpSetData, suite.CutAfter, nil)
		n, err := ids.Next(e.t.Context())
		<-hit
		if n != 10 || err != nil {
			e.t.Errorf("%d, %v", n, err)
		}
		e.wantOnServer(20)
	})
}

func TestNextFails(t *testing.T) {
	onServers(t, func(e *env) {
		ids := e.newIDs(10)
		ended, cancel := context.WithCancel(e.t.Context())
		cancel()
		_, err := ids.Next(ended)
		e.wantErr(err, context.Canceled, false)
		suite.OK(e.t, e.number.ForceSet(e.t.Context(), math.MaxInt64-15))
		for i := range int64(10) {
			if n, err := ids.Next(e.t.Context()); n != math.MaxInt64-15+i || err != nil {
				e.t.Fatalf("%d, %v", n, err)
			}
		}
		_, err = ids.Next(e.t.Context())
		e.wantErr(err, atomics.ErrOverflow, false)
		suite.OK(e.t, e.number.ForceSet(e.t.Context(), 0))
		_, err = ids.Next(ended)
		e.wantErr(err, context.Canceled, false)
		suite.Got(ids.Next(e.t.Context())).OK(e.t)
		if n, err := ids.Next(ended); n != 1 || err != nil {
			e.t.Errorf("a number of the block: %d, %v", n, err)
		}
		suite.OK(e.t, e.client.Close(e.t.Context()))
		fresh := e.newIDs(10)
		_, err = fresh.Next(e.t.Context())
		e.wantErr(err, framework.ErrClosed, false)
	})
	var none *atomics.CachedAtomicLong
	for _, ids := range []*atomics.CachedAtomicLong{none, {}} {
		if _, err := ids.Next(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
			t.Errorf("a source that is nil or zero: %v", err)
		}
	}
	client := suite.Got(framework.NewClient("localhost:1", retry.None())).OK(t)
	number := suite.Got(atomics.NewDistributedAtomicInteger(client, "/n", often)).OK(t)
	for _, size := range []int32{0, -1} {
		if _, err := atomics.NewCachedAtomicNumber(number, size); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("size %d: %v", size, err)
		}
	}
	if _, err := atomics.NewCachedAtomicNumber[int32](nil, 1); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("a nil number: %v", err)
	}
	ids := suite.Got(atomics.NewCachedAtomicNumber(number, 1)).OK(t)
	if _, err := ids.Next(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
		t.Errorf("a client that is not started: %v", err)
	}
}
