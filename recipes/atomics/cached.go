package atomics

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
)

// CachedAtomicNumber takes numbers from a counter in blocks and gives them out one by one,
// without a request until a block is used up. No process gives out a number twice, as long as
// the counter is only changed by additions of positive numbers. The unused numbers of a block
// are lost when the process ends. A block whose reply was lost is lost, too. The numbers of
// several processes are not in order. A nil *CachedAtomicNumber, and the zero value, return
// framework.ErrNotStarted.
//
// Java: CachedAtomicLong, CachedAtomicInteger, which are not safe for concurrent use.
type CachedAtomicNumber[T int32 | int64] struct {
	number  *DistributedAtomicNumber[T]
	size    T
	flights singleflight.Group // one block for all who wait

	mu   sync.Mutex
	next T
	left T // numbers of the block that are not given out
}

// CachedAtomicLong is a source of numbers of eight bytes.
//
// Java: CachedAtomicLong.
type CachedAtomicLong = CachedAtomicNumber[int64]

// CachedAtomicInteger is a source of numbers of four bytes.
//
// Java: CachedAtomicInteger.
type CachedAtomicInteger = CachedAtomicNumber[int32]

// NewCachedAtomicNumber returns a source of numbers that takes blocks of the given size from
// number. Errors: framework.ErrInvalidOption for a nil number, and for a size that is not
// positive.
//
// Java: CachedAtomicLong.
func NewCachedAtomicNumber[T int32 | int64](number *DistributedAtomicNumber[T], size T) (*CachedAtomicNumber[T], error) {
	switch {
	case number == nil:
		return nil, fmt.Errorf("%w: the number is nil", framework.ErrInvalidOption)
	case size <= 0:
		return nil, fmt.Errorf("%w: the size of the blocks, %d, is not positive", framework.ErrInvalidOption, size)
	}
	return &CachedAtomicNumber[T]{number: number, size: size}, nil
}

// Next returns the next number; the first number of a block is the counter's value before, as the
// preValue of Java's next: programs that have used Java's postValue, which is one more for each number,
// must add one. The rest of Java's AtomicValue, its statistics and flags, has no counterpart. When
// the block is used up, all callers wait for the same new block, each until its own ctx ends;
// the block is still taken. When the reply for a block is lost, Next takes another block, as
// often as the number's retry policy permits. Errors: ErrOverflow, ErrContended,
// codec.ErrDecode, framework.ErrClosed, ctx's error, or the server's.
//
// Java: next.
func (n *CachedAtomicNumber[T]) Next(ctx context.Context) (T, error) {
	if n == nil || n.number == nil {
		return 0, fmt.Errorf("atomic number: %w", framework.ErrNotStarted)
	}
	for {
		if next, ok := n.take(); ok {
			return next, nil
		}
		if err := n.refill(ctx); err != nil {
			return 0, err
		}
	}
}

// take gives out a number of the block.
func (n *CachedAtomicNumber[T]) take() (next T, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left == 0 {
		return 0, false
	}
	next = n.next
	n.next++ // it may wrap around, behind the last number of all
	n.left--
	return next, true
}

// refill waits for a block. The goroutines that wait are the client's, so that its Close joins
// them, and a caller that leaves does not fail the others.
func (n *CachedAtomicNumber[T]) refill(ctx context.Context) error {
	r := &n.number.r
	if err := r.check(ctx); err != nil {
		return err
	}
	if _, err := r.api.Conn(); err != nil {
		return fmt.Errorf("atomic number %s: %w", r.path, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("atomic number %s: %w", r.path, zkclient.ContextError(ctx))
	}
	done := make(chan error, 1)
	if !r.api.Go(func(life context.Context) {
		_, err, _ := n.flights.Do("", func() (any, error) { return nil, n.reserve(ctx, life) })
		done <- err
	}) {
		return fmt.Errorf("atomic number %s: %w", r.path, framework.ErrClosed)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("atomic number %s: %w", r.path, zkclient.ContextError(ctx))
	}
}

// errInDoubt says that a block may have been taken: it is not to be used.
var errInDoubt = errors.New("the reply for a block was lost")

// reserve takes a block, with the values of ctx, until life ends.
func (n *CachedAtomicNumber[T]) reserve(ctx, life context.Context) error {
	if n.full() {
		return nil // another caller was quicker
	}
	ctx, cancel := context.WithCancelCause(retry.Detach(context.WithoutCancel(ctx)))
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(framework.ErrClosed) })()
	var last error
	err := retry.Do(ctx, n.number.r.policy, func(context.Context) error {
		var block AtomicValue[T]
		block, last = n.number.Add(ctx, n.size)
		switch {
		case last == nil:
			n.put(block.Pre)
			return nil
		case framework.MaybeApplied(last):
			return errInDoubt
		}
		return retry.Permanent(last)
	})
	if last == nil {
		return err // the client is closed, if anything
	}
	return last
}

func (n *CachedAtomicNumber[T]) full() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.left > 0
}

func (n *CachedAtomicNumber[T]) put(first T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next, n.left = first, n.size
}
