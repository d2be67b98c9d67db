package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
)

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
