package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
)

// The pauses of Update between two tries are random and grow from the first to the second of
// these.
const (
	firstPause = 5 * time.Millisecond
	maxPause   = 500 * time.Millisecond
)

// Set sets the value unconditionally, and creates the node if there is none. It returns the
// value with its version. When the reply is lost, the value may be set, immediately or later:
// see framework.MaybeApplied; Set does not repeat it. Errors: framework.ErrInvalidOption for a
// value that cannot be encoded, framework.ErrNotStarted, framework.ErrClosed, ctx's error, or
// the server's.
//
// Java: setValue.
func (v *Value[T]) Set(ctx context.Context, value T) (VersionedValue[T], error) {
	data, err := v.encode(ctx, value)
	if err != nil {
		return VersionedValue[T]{}, err
	}
	for {
		epoch := v.api.Epoch()
		stat, err := v.client.SetData().Uncompressed().ForPath(ctx, v.path, data)
		if errors.Is(err, framework.ErrNoNode) {
			stat, err = v.create(ctx, data)
		}
		if errors.Is(err, framework.ErrNodeExists) {
			continue // another process has created it meanwhile
		}
		if err != nil {
			return VersionedValue[T]{}, err
		}
		return v.take(value, stat, epoch), nil
	}
}

// TrySet sets the value if the server still has previous. It returns the value that the server
// then has, and whether that is the given value. It makes one try. previous is compared by its
// version, and need not be the last known value. A previous with Zxid -1, such as a seed, means
// that there is no node: TrySet then creates it. If there is no node although previous has a
// Zxid, now is the last known value with Zxid -1.
//
// A node that was deleted and created again may have the version of previous, also one of servers that
// have lost their data. TrySet cannot distinguish the two nodes. A node with version -1, which it has after 2^32-1 writes, cannot
// be compared: framework.ErrBadVersion. When the reply is lost the value may be set: see
// framework.MaybeApplied. Other errors are as of Set, and codec.ErrDecode if the server's data
// cannot be decoded.
//
// Java: trySetValue.
func (v *Value[T]) TrySet(ctx context.Context, previous VersionedValue[T], value T) (now VersionedValue[T], set bool, err error) {
	now, set, err = v.try(ctx, previous, value)
	if err == nil && !set {
		now, err = v.present(ctx)
	}
	return now, set, err
}

// try is TrySet without the read of what is there.
func (v *Value[T]) try(ctx context.Context, previous VersionedValue[T], value T) (now VersionedValue[T], set bool, err error) {
	data, err := v.encode(ctx, value)
	if err != nil {
		return now, false, err
	}
	var stat framework.Stat
	epoch := v.api.Epoch()
	switch {
	case previous.Zxid == -1:
		stat, err = v.create(ctx, data)
	case previous.Version == -1:
		return now, false, fmt.Errorf("shared value %s: %w: -1 stands for any version", v.path, framework.ErrBadVersion)
	default:
		stat, err = v.setVersion(ctx, data, previous.Version)
	}
	switch {
	case err == nil:
		return v.take(value, stat, epoch), true, nil
	case zkclient.Conflict(err):
		return now, false, nil
	}
	return now, false, err
}

// Update sets the value to the result of fn for the server's value, and returns it with its
// version. If another process is faster, Update calls fn again with the new value, after a
// random pause, until ctx ends or Close. If there is no node, fn gets the last known value, and
// Update creates the node.
//
// An error of fn ends Update, which returns it; nothing was set then. When a reply is lost the
// value may be set: see framework.MaybeApplied; Update does not repeat it. Other errors are as
// of TrySet.
//
// Java: none.
func (v *Value[T]) Update(ctx context.Context, fn func(T) (T, error)) (VersionedValue[T], error) {
	if err := v.check(ctx); err != nil {
		return VersionedValue[T]{}, err
	}
	if fn == nil {
		return VersionedValue[T]{}, fmt.Errorf("%w: the function is nil", framework.ErrInvalidOption)
	}
	pauses := wait.Pace{First: firstPause, Most: maxPause}
	latest := v.latest.Load()
	now := latest.VersionedValue
	for first := true; ; first = false {
		if !first {
			if err := v.pause(ctx, pauses.Next()); err != nil {
				return VersionedValue[T]{}, err
			}
		}
		if !first || latest.epoch != v.api.Epoch() { // a version of lost data may be that of another value
			var err error
			if now, err = v.present(ctx); err != nil {
				return VersionedValue[T]{}, err
			}
		}
		value, err := fn(now.Value)
		if err != nil {
			return VersionedValue[T]{}, err
		}
		if set, ok, err := v.try(ctx, now, value); err != nil || ok {
			return set, err
		}
	}
}

// pause waits for d.
func (v *Value[T]) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("shared value %s: %w", v.path, ctx.Err())
	case <-v.life.Done():
		return fmt.Errorf("shared value %s: %w", v.path, framework.ErrClosed)
	}
}

func (v *Value[T]) check(ctx context.Context) error {
	if err := v.usable(); err != nil {
		return fmt.Errorf("shared value: %w", err)
	}
	if ctx == nil {
		return zkclient.ErrNilContext
	}
	return nil
}

// encode returns the data of a value that is to be set.
func (v *Value[T]) encode(ctx context.Context, value T) ([]byte, error) {
	if err := v.check(ctx); err != nil {
		return nil, err
	}
	data, err := v.codec.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("%w: shared value %s: %w", framework.ErrInvalidOption, v.path, err)
	}
	return data, nil
}

func (v *Value[T]) create(ctx context.Context, data []byte) (stat framework.Stat, err error) {
	_, err = v.creation().WithData(data).StoringStatIn(&stat).ForPath(ctx, v.path)
	return stat, err
}

// setVersion sets the data of the node at a version. Versions above 2^31 are negative.
func (v *Value[T]) setVersion(ctx context.Context, data []byte, version int32) (framework.Stat, error) {
	stat, err := v.api.SetData(ctx, v.path, data, version)
	return zkclient.UserStat[framework.Stat](&stat), err
}

// present returns what the server has now. Without a node it is the last value seen.
func (v *Value[T]) present(ctx context.Context) (VersionedValue[T], error) {
	var stat framework.Stat
	epoch := v.api.Epoch()
	data, err := v.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, v.path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return VersionedValue[T]{Value: v.Get(), Version: -1, Zxid: -1}, nil
	case err != nil:
		return VersionedValue[T]{}, err
	}
	value, err := v.codec.Decode(data)
	if err != nil {
		return VersionedValue[T]{}, fmt.Errorf("shared value %s: %w: %w", v.path, codec.ErrDecode, err)
	}
	now := v.take(value, stat, epoch)
	if latest := v.latest.Load(); latest.epoch == epoch && latest.Zxid > now.Zxid {
		return latest.VersionedValue, nil // a server that lags behind was read
	}
	return now, nil
}
