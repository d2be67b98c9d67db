package atomics

import (
	"bytes"
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
)

// DistributedAtomicValue is bytes in a node. It does not keep the bytes of arguments and
// results. A nil *DistributedAtomicValue, and the zero value, return framework.ErrNotStarted.
//
// Java: DistributedAtomicValue.
type DistributedAtomicValue struct{ r register }

// NewDistributedAtomicValue returns the value at path. retryPolicy says how often and with
// which pauses a change is tried again after a conflict with another client. The client's
// policy applies to lost connections. NewDistributedAtomicValue does no I/O. Errors:
// framework.ErrInvalidPath, retry.ErrInvalidPolicy, framework.ErrInvalidOption,
// framework.ErrNotStarted for a nil client.
//
// Java: DistributedAtomicValue.
func NewDistributedAtomicValue(client *framework.Client, path string, retryPolicy retry.Policy, opts ...Option) (*DistributedAtomicValue, error) {
	v := new(DistributedAtomicValue)
	if err := v.r.init(client, path, retryPolicy, opts); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *DistributedAtomicValue) of() *register {
	if v == nil {
		return nil
	}
	return &v.r
}

// Get returns the value, nil if there is no node. It may be behind the changes of other clients,
// but not behind those of this one. Errors: ctx's error, or the server's.
//
// Java: get.
func (v *DistributedAtomicValue) Get(ctx context.Context) ([]byte, error) {
	r := v.of()
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	c, err := r.read(ctx)
	return c.data, err
}

// Update sets the value to the result of fn, and creates the node if there is none; fn gets nil
// then. fn is called once for every try, and once more if a value that was remembered is out of date.
// It may change its argument. If fn returns an error,
// Update returns it and has changed nothing. When a reply is lost the change may have been
// made: see framework.MaybeApplied; Update does not repeat it.
//
// If the node is deleted and created again meanwhile, the change may replace the new node's value: see
// the package's documentation.
//
// Errors: ErrContended; framework.ErrBadVersion for a node that was written 2^32-1 times; ctx's
// error, together with ErrContended if it ended while others changed the value; or the server's.
//
// Java: trySet.
func (v *DistributedAtomicValue) Update(ctx context.Context, fn func(pre []byte) ([]byte, error)) (AtomicValue[[]byte], error) {
	return v.of().update(ctx, fn)
}

// CompareAndSet sets the value if it equals expected, byte for byte, and reports whether it
// did. It makes one try. Without a node it returns false: see Initialize. After another
// client's change it also returns false. Errors are as of Update, except ErrContended.
//
// Java: compareAndSet.
func (v *DistributedAtomicValue) CompareAndSet(ctx context.Context, expected, value []byte) (swapped bool, err error) {
	same := func(data []byte) (bool, error) { return bytes.Equal(data, expected), nil }
	return v.of().compareAndSet(ctx, same, value)
}

// ForceSet sets the value unconditionally, and creates the node if there is none. When the
// reply is lost the value may be set, immediately or later: see framework.MaybeApplied. Errors:
// ctx's error, or the server's.
//
// Java: forceSet.
func (v *DistributedAtomicValue) ForceSet(ctx context.Context, value []byte) error {
	return v.of().forceSet(ctx, value)
}

// Initialize creates the node with the value, and reports whether it did: false if there was
// one. Errors: ctx's error, or the server's; see framework.MaybeApplied.
//
// Java: initialize.
func (v *DistributedAtomicValue) Initialize(ctx context.Context, value []byte) (created bool, err error) {
	return v.of().initialize(ctx, value)
}
