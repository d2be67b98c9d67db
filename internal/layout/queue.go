package layout

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// PlainPrefix is the name of an item without priority, time and id, and SimplePrefix that of an item of a
// SimpleDistributedQueue. The server appends a number to them. In between may be a priority of nine
// characters: 1, or 0 if it is negative, and its 32 bits in hexadecimal; or a time in hexadecimal ms, or
// an id, between bars.
const (
	PlainPrefix  = "queue-"
	SimplePrefix = "qn-"

	priorityWidth = 9
	timeWidth     = 11 // of every time from 2004 to 2527
)

// ItemKind is the kind of a queue.
type ItemKind string

// The kinds of queues.
const (
	PlainItems    ItemKind = "plain"
	PriorityItems ItemKind = "priority"
	DelayItems    ItemKind = "delay"
	IDItems       ItemKind = "id"
	SimpleItems   ItemKind = "simple"
)

// IsItem reports whether a name is that of an item of a queue of this kind. As in Java the beginning of
// the name decides. All other names are foreign.
func (k ItemKind) IsItem(name string) bool {
	if k == SimpleItems {
		return strings.HasPrefix(name, SimplePrefix)
	}
	return strings.HasPrefix(name, PlainPrefix)
}

// PriorityPrefix is the name of an item of a priority. Negative priorities sort first.
func PriorityPrefix(priority int32) string {
	sign := "1"
	if priority < 0 {
		sign = "0"
	}
	return PlainPrefix + sign + fmt.Sprintf("%08X", uint32(priority))
}

// DelayPrefix is the name of an item that is due at a time. A fraction of a millisecond is rounded up,
// because no item is handed out early. A time that is too far away for a name becomes the last that a
// name can have, or the first.
func DelayPrefix(due time.Time) string {
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
	return PlainPrefix + "|" + fmt.Sprintf("%08X", uint64(ms)) + "|"
}

// IDPrefix is the name of an item with an id. Bars and slashes of the id become "_".
func IDPrefix(id string) string { return PlainPrefix + "|" + idReplacer.Replace(id) + "|" }

var idReplacer = strings.NewReplacer("/", "_", "|", "_")

// HasID reports whether a name is that of an item with the id.
func HasID(name, id string) bool {
	_, found, _, ok := cutMark(name)
	return ok && strings.HasPrefix(name, PlainPrefix) && found == idReplacer.Replace(id)
}

// cutMark splits a name at the text between its first two bars.
func cutMark(name string) (before, mark, after string, ok bool) {
	before, rest, first := strings.Cut(name, "|")
	mark, after, second := strings.Cut(rest, "|")
	return before, mark, after, first && second
}

// Prefix returns the name of an item without its number, under which it is put back. It is PlainPrefix for
// an item without a priority, time or id: Java puts items back so.
func (k ItemKind) Prefix(name string) string {
	switch k {
	case PriorityItems:
		if end := len(PlainPrefix) + priorityWidth; len(name) >= end+numberWidth {
			return name[:end]
		}
	case DelayItems, IDItems:
		if before, mark, _, ok := cutMark(name); ok {
			return name[:len(before)+len(mark)+2]
		}
	case SimpleItems:
		return SimplePrefix
	}
	return PlainPrefix
}

// ItemOrder is what the items of a queue are ordered by.
type ItemOrder struct {
	Due  int64  // in ms since 1970; 0 is a time that has always passed
	Text string // decides if the times are equal
}

// Compare returns -1, 0 or 1. Items with equal orders are taken in the order of their names.
func (o ItemOrder) Compare(other ItemOrder) int {
	return cmp.Or(cmp.Compare(o.Due, other.Due), strings.Compare(o.Text, other.Text))
}

// Order returns the place of an item in a queue of this kind. The text between bars is an id in a queue
// with ids, also if it looks like a time. In a delay queue it is a time, which is 0 if it cannot be read or
// is before 1970.
func (k ItemKind) Order(name string) ItemOrder {
	switch k {
	case DelayItems:
		return ItemOrder{Due: dueOf(name), Text: name}
	case IDItems:
		if before, _, after, ok := cutMark(name); ok {
			return ItemOrder{Text: before + after}
		}
	}
	return ItemOrder{Text: name}
}

// dueOf reads the text between the last two bars, as Java does.
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

// Item has the contents of an item's name, read without knowledge of the kind of queue.
type Item struct {
	Kind     ItemKind
	Prefix   string // the name without its number
	Number   string // the server's
	Priority int32
	Due      time.Time
	ID       string
}

// ParseItem reads the name of an item. A text of eleven upper-case hexadecimal digits between bars is read
// as a time, and every other text as an id, because a name does not show which one it is. ok is false for a
// name without a number, and for the name of a queue of a QueueSharder.
func ParseItem(name string) (it Item, ok bool) {
	it.Kind = PlainItems
	rest, ok := strings.CutPrefix(name, PlainPrefix)
	if !ok {
		it.Kind = SimpleItems
		rest, ok = strings.CutPrefix(name, SimplePrefix)
	}
	if !ok || IsUUID(rest) {
		return Item{}, false
	}
	rest, it.Number = cutNumber(rest)
	if it.Number == "" {
		return Item{}, false
	}
	it.Prefix = name[:len(name)-len(it.Number)]
	if it.Kind == SimpleItems {
		return it, true
	}
	if _, mark, _, marked := cutMark(it.Prefix); marked {
		if it.Kind, it.ID = IDItems, mark; len(mark) == timeWidth && isUpperHex(mark) {
			ms, _ := strconv.ParseInt(mark, 16, 64)
			it.Kind, it.ID, it.Due = DelayItems, "", time.UnixMilli(ms).UTC()
		}
		return it, true
	}
	if len(rest) == priorityWidth && (rest[0] == '0' || rest[0] == '1') && isUpperHex(rest[1:]) {
		n, _ := strconv.ParseUint(rest[1:], 16, 32)
		it.Kind, it.Priority = PriorityItems, int32(uint32(n))
	}
	return it, true
}

// Name returns the name that ParseItem has read.
func (it Item) Name() string { return it.Prefix + it.Number }

// Order returns the place of the item in a queue of its kind.
func (it Item) Order() ItemOrder { return it.Kind.Order(it.Name()) }

// CompareNumber returns -1, 0 or 1 by the numbers of two items of a queue, without a minus sign.
func (it Item) CompareNumber(other Item) int {
	return strings.Compare(strings.TrimPrefix(it.Number, "-"), strings.TrimPrefix(other.Number, "-"))
}

func isUpperHex(text string) bool { return strings.Trim(text, "0123456789ABCDEF") == "" }
