package layout

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The data of a lock's node is a line as Java has it, by default the local address, and
// below it a line for each of these fields and of those of the propagator:
//
//	10.1.2.3
//	owner=orders-api
//	host=web-7
//	pid=4242
//	traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//
// A reader that expects only Java's line finds it first. Java's nodes have none of the fields.
const (
	ownerField = "owner"
	hostField  = "host"
	pidField   = "pid"
)

// MaxField is the longest field of a propagator. A longer one would cost every waiter that reads the
// node.
const MaxField = 512

// Owner describes the owner of a lock's node, as far as the data of the node does.
type Owner struct {
	Address string // the first line: Java's data
	Label   string
	Host    string
	PID     int
	Fields  map[string]string // the others, which are those of a propagator; nil for none
}

// Append appends the fields of an owner to Java's line, or to the result of an earlier Append. It leaves
// out fields that a reader could not tell from their neighbours, and long fields of a propagator.
func (o Owner) Append(data []byte) []byte {
	data = appendField(data, ownerField, o.Label)
	data = appendField(data, hostField, o.Host)
	if o.PID != 0 {
		data = appendField(data, pidField, strconv.Itoa(o.PID))
	}
	keys := make([]string, 0, len(o.Fields))
	for key := range o.Fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if value := o.Fields[key]; len(value) <= MaxField {
			data = appendField(data, key, value)
		}
	}
	return data
}

func appendField(data []byte, key, value string) []byte {
	if !isField(key, value) {
		return data
	}
	data = append(append(data, '\n'), key...)
	return append(append(data, '='), value...)
}

// isField tells whether a field can be told from its neighbours.
func isField(key, value string) bool {
	return key != "" && value != "" && utf8.ValidString(value) && !strings.ContainsAny(key, "=\n\r") && !strings.ContainsAny(value, "\n\r")
}

// ParseOwner reads the data of a lock node. Any client may have written it, so it may be wrong.
func ParseOwner(data []byte) Owner {
	if !utf8.Valid(data) {
		return Owner{}
	}
	first, rest, _ := strings.Cut(string(data), "\n")
	o := Owner{Address: Printable(first)}
	for line := range strings.Lines(rest) {
		key, value, found := strings.Cut(strings.TrimRight(line, "\n"), "=")
		if !found || !isField(key, value) {
			continue
		}
		switch key {
		case ownerField:
			o.Label = Printable(value)
		case hostField:
			o.Host = Printable(value)
		case pidField:
			o.PID, _ = strconv.Atoi(value)
		default:
			if o.Fields == nil {
				o.Fields = map[string]string{}
			}
			o.Fields[key] = value
		}
	}
	return o
}

// Printable removes characters that could control a terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

// String returns "orders-api on web-7, pid 4242", as far as it is known, or the first line.
func (o Owner) String() string {
	text := o.Label
	if o.Host != "" {
		text = strings.TrimSpace(text + " on " + o.Host)
	}
	if o.PID != 0 {
		text = strings.TrimPrefix(text+", pid "+strconv.Itoa(o.PID), ", ")
	}
	if text == "" {
		return o.Address
	}
	return text
}

// TraceParent returns the W3C traceparent that the data has, or "".
func (o Owner) TraceParent() string { return o.Fields["traceparent"] }

// IsParticipantID reports whether the data of a node is the id of a participant of an election, because
// the nodes of a leader selector and of a mutex have the same names. An id is one line that is neither an
// address nor a request to revoke. An address is Java's default data, and the nodes of this module's
// mutexes have more lines.
func IsParticipantID(data []byte) bool {
	text := strings.TrimSpace(string(data))
	if text == "" || string(data) == RevokeRequest || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") {
		return false
	}
	o := ParseOwner(data)
	if o.Label != "" || o.Host != "" || o.PID != 0 {
		return false
	}
	_, err := netip.ParseAddr(text)
	return err != nil
}
