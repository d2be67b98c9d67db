package queueview

import (
	"strconv"
	"strings"
	"time"
)

// Items have the names that package queue gives them: queue-NUMBER; queue-SXXXXXXXXNUMBER with a
// priority, where S is 0 if the priority is negative; queue-|TIME|NUMBER with a time;
// queue-|ID|NUMBER with an id; and qn-NUMBER in a SimpleDistributedQueue.
const (
	itemPrefix    = "queue-"
	simplePrefix  = "qn-"
	numberWidth   = 10
	priorityWidth = 9
	// timeWidth is the number of hexadecimal digits of a time in milliseconds, from 2004 to 2527.
	// An id of this form is read as a time.
	timeWidth = 11
)

// isItem reports whether a name is that of an item.
func isItem(name string) bool {
	rest, ok := strings.CutPrefix(name, itemPrefix)
	if !ok {
		rest, ok = strings.CutPrefix(name, simplePrefix)
	}
	return ok && len(rest) >= numberWidth && number(name) != ""
}

// number returns the sequence number in the name of an item, as text, or "".
func number(name string) string {
	if len(name) < numberWidth {
		return ""
	}
	digits := name[len(name)-numberWidth:]
	if strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return digits
}

// mark returns the text between the bars in a name.
func mark(name string) (text string, ok bool) {
	_, rest, first := strings.Cut(name, "|")
	text, _, second := strings.Cut(rest, "|")
	return text, first && second
}

// due returns the time in the name of an item, when the item is due.
func due(name string) (time.Time, bool) {
	text, ok := mark(name)
	if !ok || len(text) != timeWidth || strings.Trim(text, "0123456789ABCDEF") != "" {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(text, 16, 64)
	return time.UnixMilli(ms).UTC(), err == nil
}

// priority returns the priority of an item.
func priority(name string) (int32, bool) {
	rest := strings.TrimPrefix(name, itemPrefix)
	if len(rest) != priorityWidth+numberWidth || (rest[0] != '0' && rest[0] != '1') {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[1:priorityWidth], 16, 32)
	return int32(uint32(n)), err == nil
}

// kindOf returns the kind of queue that has items with such a name.
func kindOf(name string) string {
	if strings.HasPrefix(name, simplePrefix) {
		return "simple"
	}
	if _, ok := due(name); ok {
		return "delay"
	}
	if _, ok := mark(name); ok {
		return "id"
	}
	if _, ok := priority(name); ok {
		return "priority"
	}
	return "plain"
}
