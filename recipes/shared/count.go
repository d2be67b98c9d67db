package shared

import (
	"context"
	"errors"
	"iter"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/listen"
)

// Count is an integer that processes share: four bytes, big endian, signed. Data of another
// length causes codec.ErrDecode. It is a Value of codec.Int32, and a locks.LeaseCount. A nil
// *Count, and the zero value, has the count 0 and cannot be started.
//
// Java: SharedCount and its interface SharedCountReader. A reader that creates no node: see
// WithoutCreate.
type Count struct {
	value   Value[int]
	numbers listen.Set[int]
}

var _ framework.Component = (*Count)(nil)

// NewCount returns the count at path; see NewValue. A seed of more than 32 bits is
// framework.ErrInvalidOption.
//
// Java: SharedCount.
func NewCount(client *framework.Client, path string, seed int, opts ...Option) (*Count, error) {
	c := new(Count)
	if err := c.value.init(client, path, seed, codec.Int32(), opts); err != nil {
		return nil, err
	}
	c.numbers.Limit(listen.MaxStates, listen.Newest)
	c.value.changed = func(before, now int) {
		if now != before {
			c.numbers.Notify(now)
		}
	}
	return c, nil
}

// of returns the value, nil for a nil Count.
func (c *Count) of() *Value[int] {
	if c == nil {
		return nil
	}
	return &c.value
}

// Start reads the count, or creates the node with the seed, and follows it; see Value.Start.
//
// Java: start.
func (c *Count) Start(ctx context.Context) error { return c.of().Start(ctx) }

// Close stops following; see Value.Close.
//
// Java: close.
func (c *Count) Close(ctx context.Context) error {
	err := c.of().Close(ctx)
	if c == nil || ctx == nil {
		return err
	}
	return errors.Join(err, c.numbers.Close(ctx))
}

// Count returns the last known count, which may be behind.
//
// Java: getCount.
func (c *Count) Count() int { return c.of().Get() }

// VersionedValue returns the last known count with its version; see Value.VersionedValue.
//
// Java: getVersionedValue.
func (c *Count) VersionedValue() VersionedValue[int] { return c.of().VersionedValue() }

// Set sets the count unconditionally; see Value.Set.
//
// Java: setCount.
func (c *Count) Set(ctx context.Context, count int) (VersionedValue[int], error) {
	return c.of().Set(ctx, count)
}

// TrySet sets the count if the server still has previous; see Value.TrySet.
//
// Java: trySetCount.
func (c *Count) TrySet(ctx context.Context, previous VersionedValue[int], count int) (now VersionedValue[int], set bool, err error) {
	return c.of().TrySet(ctx, previous, count)
}

// Update sets the count to the result of fn for the server's count; see Value.Update.
//
// Java: none.
func (c *Count) Update(ctx context.Context, fn func(count int) (int, error)) (VersionedValue[int], error) {
	return c.of().Update(ctx, fn)
}

// Updates iterates over the count as it changes; see Value.Updates.
//
// Java: none.
func (c *Count) Updates(ctx context.Context) iter.Seq[VersionedValue[int]] {
	return c.of().Updates(ctx)
}

// Listenable takes listeners for every newer value, also if the number is the same; see
// Value.Listenable.
//
// Java: getListenable.
func (c *Count) Listenable() listen.Listenable[VersionedValue[int]] { return c.of().Listenable() }

// CountListenable takes listeners for changes of the number. They get the new number; fast
// changes may be merged. Count returns the new number already. The number that Start reads is no
// change, except with WithStartInBackground. To miss none, add a listener before Start, and call Count
// after Start, or call Count after Add. For a slow listener see Value.Listenable; the newest number may be
// one that it has got already.
//
// Java: addListener.
func (c *Count) CountListenable() listen.Listenable[int] {
	if c == nil {
		return listen.Listenable[int]{}
	}
	return c.numbers.Listenable()
}
