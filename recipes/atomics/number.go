package atomics

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/retry"
)

// DistributedAtomicNumber is a counter in a node: eight or four bytes, big endian, signed. A
// missing node, and a node without data, is zero. Data that is too short causes
// codec.ErrDecode; if the data is longer, the leading bytes count, as in Java. A nil
// *DistributedAtomicNumber, and the zero value, return framework.ErrNotStarted.
//
// Java: DistributedAtomicNumber.
type DistributedAtomicNumber[T int32 | int64] struct{ r register }

// DistributedAtomicLong is a counter of eight bytes.
//
// Java: DistributedAtomicLong.
type DistributedAtomicLong = DistributedAtomicNumber[int64]

// DistributedAtomicInteger is a counter of four bytes.
//
// Java: DistributedAtomicInteger.
type DistributedAtomicInteger = DistributedAtomicNumber[int32]

// NewDistributedAtomicLong returns the counter at path; see NewDistributedAtomicValue.
//
// Java: DistributedAtomicLong.
func NewDistributedAtomicLong(client *framework.Client, path string, retryPolicy retry.Policy, opts ...Option) (*DistributedAtomicLong, error) {
	return newNumber[int64](client, path, retryPolicy, opts)
}

// NewDistributedAtomicInteger returns the counter at path; see NewDistributedAtomicValue.
//
// Java: DistributedAtomicInteger.
func NewDistributedAtomicInteger(client *framework.Client, path string, retryPolicy retry.Policy, opts ...Option) (*DistributedAtomicInteger, error) {
	return newNumber[int32](client, path, retryPolicy, opts)
}

func newNumber[T int32 | int64](client *framework.Client, path string, policy retry.Policy, opts []Option) (*DistributedAtomicNumber[T], error) {
	n := new(DistributedAtomicNumber[T])
	if err := n.r.init(client, path, policy, opts); err != nil {
		return nil, err
	}
	return n, nil
}

func (n *DistributedAtomicNumber[T]) of() *register {
	if n == nil {
		return nil
	}
	return &n.r
}

// Get returns the number. It may be behind the changes of other clients, but not behind those of
// this one. Errors: codec.ErrDecode, ctx's error, or the server's.
//
// Java: get.
func (n *DistributedAtomicNumber[T]) Get(ctx context.Context) (T, error) {
	r := n.of()
	if err := r.check(ctx); err != nil {
		return 0, err
	}
	c, err := r.read(ctx)
	if err != nil {
		return 0, err
	}
	return n.decode(c.data)
}

// Add adds delta, which may be negative. A change whose reply was lost may have been made: see
// framework.MaybeApplied; Add does not repeat it. Errors: ErrOverflow, codec.ErrDecode, and
// those of Update.
//
// Java: add, subtract.
func (n *DistributedAtomicNumber[T]) Add(ctx context.Context, delta T) (AtomicValue[T], error) {
	return n.Update(ctx, func(pre T) (T, error) {
		post := pre + delta
		if (post > pre) != (delta > 0) && delta != 0 {
			return 0, fmt.Errorf("atomic number %s: %w: %d + %d", n.r.path, ErrOverflow, pre, delta)
		}
		return post, nil
	})
}

// Increment adds one; see Add.
//
// Java: increment.
func (n *DistributedAtomicNumber[T]) Increment(ctx context.Context) (AtomicValue[T], error) {
	return n.Add(ctx, 1)
}

// Decrement subtracts one; see Add.
//
// Java: decrement.
func (n *DistributedAtomicNumber[T]) Decrement(ctx context.Context) (AtomicValue[T], error) {
	return n.Add(ctx, -1)
}

// Update sets the number to the result of fn; see DistributedAtomicValue.Update. It also
// returns codec.ErrDecode.
//
// Java: trySet.
func (n *DistributedAtomicNumber[T]) Update(ctx context.Context, fn func(pre T) (T, error)) (AtomicValue[T], error) {
	if fn == nil {
		return AtomicValue[T]{}, fmt.Errorf("%w: the function is nil", framework.ErrInvalidOption)
	}
	var number AtomicValue[T]
	out, err := n.of().update(ctx, func(data []byte) (_ []byte, err error) {
		if number.Pre, err = n.decode(data); err != nil {
			return nil, err
		}
		if number.Post, err = fn(number.Pre); err != nil {
			return nil, err
		}
		return n.encode(number.Post), nil
	})
	if err != nil {
		return AtomicValue[T]{}, err
	}
	number.Stats = out.Stats
	return number, nil
}

// CompareAndSet sets the number if it equals expected, and reports whether it did; see
// DistributedAtomicValue.CompareAndSet. Numbers are compared, not bytes: a node without data is
// zero. It also returns codec.ErrDecode.
//
// Java: compareAndSet.
func (n *DistributedAtomicNumber[T]) CompareAndSet(ctx context.Context, expected, value T) (swapped bool, err error) {
	same := func(data []byte) (bool, error) {
		number, err := n.decode(data)
		return number == expected, err
	}
	return n.of().compareAndSet(ctx, same, n.encode(value))
}

// ForceSet sets the number unconditionally; see DistributedAtomicValue.ForceSet.
//
// Java: forceSet.
func (n *DistributedAtomicNumber[T]) ForceSet(ctx context.Context, value T) error {
	return n.of().forceSet(ctx, n.encode(value))
}

// Initialize creates the node with the number, and reports whether it did; see
// DistributedAtomicValue.Initialize.
//
// Java: initialize.
func (n *DistributedAtomicNumber[T]) Initialize(ctx context.Context, value T) (created bool, err error) {
	return n.of().initialize(ctx, n.encode(value))
}

func (n *DistributedAtomicNumber[T]) encode(number T) []byte {
	if _, long := any(number).(int64); long {
		return binary.BigEndian.AppendUint64(nil, uint64(number))
	}
	return binary.BigEndian.AppendUint32(nil, uint32(number))
}

func (n *DistributedAtomicNumber[T]) decode(data []byte) (T, error) {
	_, long := any(T(0)).(int64)
	size := 4
	if long {
		size = 8
	}
	switch {
	case len(data) == 0:
		return 0, nil
	case len(data) < size:
		return 0, fmt.Errorf("atomic number %s: %w: there are %d bytes, not %d: %x", n.r.path, codec.ErrDecode, len(data), size, data)
	case long:
		return T(binary.BigEndian.Uint64(data)), nil
	}
	return T(int32(binary.BigEndian.Uint32(data))), nil
}
