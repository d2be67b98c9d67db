package queue

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// itemPrefix is what the name of every item begins with. The server appends a number.
const itemPrefix = "queue-"

// scheme is how the names of a queue's items are made and read.
type scheme struct {
	kind string // of the queue, for spans
	// key returns what items are ordered by.
	key func(name string) key
	// prefix returns the name of an item without its number, under which it is put back.
	prefix func(name string) string
}

// key orders items. The zero due is a time that has always passed.
type key struct {
	due  int64 // milliseconds since 1970
	text string
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.due, other.due), cmp.Compare(k.text, other.text))
}

var (
	plainNames    = scheme{kind: "queue", key: byName, prefix: func(string) string { return itemPrefix }}
	priorityNames = scheme{kind: "priority", key: byName, prefix: priorityPrefix}
	idNames       = scheme{kind: "id", key: func(name string) key { return key{text: withoutID(name)} }, prefix: markedPrefix}
	delayNames    = scheme{kind: "delay", key: func(name string) key { return key{due: dueOf(name), text: name} }, prefix: markedPrefix}
)

func byName(name string) key { return key{text: name} }

// priorityWidth is the width of a priority in names.
const priorityWidth = 9

// priorityName returns the beginning of the names of items of a priority. Names of negative
// priorities come first.
func priorityName(priority int32) string {
	sign := "1"
	if priority < 0 {
		sign = "0"
	}
	return itemPrefix + sign + fmt.Sprintf("%08X", uint32(priority))
}

// priorityPrefix keeps the priority of an item. An item that Java has put back has none.
func priorityPrefix(name string) string {
	const numberWidth = 10
	if end := len(itemPrefix) + priorityWidth; len(name) >= end+numberWidth {
		return name[:end]
	}
	return itemPrefix
}

// delayName returns the beginning of the names of items that are due at a time. A fraction of a
// millisecond is rounded up, because no item is handed out early. A time that is too far away for a name
// becomes the last that a name can have, or the first.
func delayName(due time.Time) string {
	var ms int64
	switch {
	case !due.Before(time.UnixMilli(math.MaxInt64)):
		ms = math.MaxInt64
	case due.Before(time.UnixMilli(math.MinInt64)):
		ms = math.MinInt64
	default:
		if ms = due.UnixMilli(); due.After(time.UnixMilli(ms)) {
			ms++
		}
	}
	return itemPrefix + "|" + fmt.Sprintf("%08X", uint64(ms)) + "|"
}

// dueOf returns when an item is due. It returns 0 for a time before 1970, and if the name has no
// time.
func dueOf(name string) int64 {
	end := strings.LastIndexByte(name, '|')
	if end < 0 {
		return 0
	}
	begin := strings.LastIndexByte(name[:end], '|')
	if begin < 0 {
		return 0
	}
	ms, err := strconv.ParseInt(name[begin+1:end], 16, 64)
	if err != nil || ms < 0 {
		return 0
	}
	return ms
}

var idReplacer = strings.NewReplacer("/", "_", "|", "_")

// idName returns the beginning of the names of items with an id.
func idName(id string) string { return itemPrefix + "|" + idReplacer.Replace(id) + "|" }

// cutID splits the name of an item with an id. Without an id, ok is false.
func cutID(name string) (before, id, after string, ok bool) {
	before, rest, first := strings.Cut(name, "|")
	id, after, second := strings.Cut(rest, "|")
	return before, id, after, first && second
}

func withoutID(name string) string {
	before, _, after, ok := cutID(name)
	if !ok {
		return name
	}
	return before + after
}

// hasID reports whether name is that of an item with the id.
func hasID(name, id string) bool {
	_, found, _, ok := cutID(name)
	return ok && strings.HasPrefix(name, itemPrefix) && found == idReplacer.Replace(id)
}

// markedPrefix keeps the id or the time of an item.
func markedPrefix(name string) string {
	before, mark, _, ok := cutID(name)
	if !ok {
		return itemPrefix
	}
	return before + "|" + mark + "|"
}
