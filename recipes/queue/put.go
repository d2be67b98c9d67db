package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// put stores items in one node, whose name begins with prefix.
func (q *core) put(ctx context.Context, prefix string, items [][]byte) (err error) {
	ctx, work := q.api.Telemetry().Put(ctx, q.spans, len(items))
	failed := errPanic
	defer func() { work.End(failed) }()
	if q.cfg.maxItems > 0 {
		err = q.awaitRoom(ctx)
	}
	if err == nil {
		err = q.create(ctx, prefix, encodeItems(items))
	}
	failed = err
	if err != nil {
		return q.failed(err)
	}
	return nil
}

// create creates the node of an item, and the queue's node if that is missing.
func (q *core) create(ctx context.Context, prefix string, data []byte) error {
	node := q.client.Create().WithMode(framework.PersistentSequential).WithData(data)
	return q.below(ctx, q.path, isNoNode, func() error {
		_, err := node.ForPath(ctx, q.path+"/"+prefix)
		return err
	})
}

// awaitRoom waits until the queue has less than the maximum of nodes.
func (q *core) awaitRoom(ctx context.Context) error {
	full, err := q.isFull(ctx)
	if err != nil || !full {
		return err
	}
	changed, stop, err := watchChanges(ctx, q.api, q.path, q.full)
	if err != nil {
		return q.whileFull(ctx, err)
	}
	defer stop()
	for {
		full, err := q.isFull(ctx)
		if err != nil {
			return q.whileFull(ctx, err)
		}
		if !full {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return q.whileFull(ctx, zkclient.ContextError(ctx))
		}
	}
}

// whileFull returns the error of a wait in which the queue was seen to be full.
func (q *core) whileFull(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if !errors.Is(err, ctx.Err()) {
		err = errors.Join(ctx.Err(), err)
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}

// isFull reports whether the queue has the maximum of nodes.
func (q *core) isFull(ctx context.Context) (bool, error) {
	var stat framework.Stat
	_, err := q.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, q.path)
	return err == nil && int(stat.NumChildren) >= q.cfg.maxItems, err
}

// The data of a node has the format of Java's ItemSerializer: a version, then the length and
// the bytes of each item, then an end mark. All numbers are big endian.
const (
	itemsVersion = 0x00010001
	itemOpcode   = 0x01
	endOpcode    = 0x02

	itemOverhead = 1 + 4 // the opcode and the length
)

// errCorrupt is returned for data that Java would call corrupt.
var errCorrupt = errors.New("the data of the node is corrupt")

// encodeItems returns the data of a node with items.
func encodeItems(items [][]byte) []byte {
	size := 4 + 1
	for _, item := range items {
		size += itemOverhead + len(item)
	}
	data := binary.BigEndian.AppendUint32(make([]byte, 0, size), itemsVersion)
	for _, item := range items {
		data = append(data, itemOpcode)
		data = binary.BigEndian.AppendUint32(data, uint32(len(item)))
		data = append(data, item...)
	}
	return append(data, endOpcode)
}

// decodeItems returns the items of a node, which share memory with data. What follows the end
// mark is ignored, as in Java.
func decodeItems(data []byte) (items [][]byte, err error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("%w: it has %d bytes", errCorrupt, len(data))
	}
	if version := binary.BigEndian.Uint32(data); version != itemsVersion {
		return nil, fmt.Errorf("%w: its version is %#x, not %#x", errCorrupt, version, itemsVersion)
	}
	data = data[4:]
	for {
		if len(data) == 0 {
			return nil, fmt.Errorf("%w: it has no end", errCorrupt)
		}
		opcode := data[0]
		switch {
		case opcode == endOpcode:
			return items, nil
		case opcode != itemOpcode:
			return nil, fmt.Errorf("%w: the code %#x before item %d", errCorrupt, opcode, len(items)+1)
		case len(data) < itemOverhead:
			return nil, fmt.Errorf("%w: it ends in item %d", errCorrupt, len(items)+1)
		}
		size := int64(int32(binary.BigEndian.Uint32(data[1:])))
		data = data[itemOverhead:]
		if size < 0 || size > int64(len(data)) {
			return nil, fmt.Errorf("%w: item %d has %d bytes of %d", errCorrupt, len(items)+1, size, len(data))
		}
		items = append(items, data[:size:size])
		data = data[size:]
	}
}
