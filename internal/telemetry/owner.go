package telemetry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
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

// maxField is the longest field of a propagator. A longer one would cost every waiter that reads the
// node.
const maxField = 512

var hostname = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
})

// DefaultLabel is the name of the program.
func DefaultLabel() string {
	if len(os.Args) == 0 {
		return ""
	}
	return filepath.Base(os.Args[0])
}

// ownerFields returns the fields that do not change.
func ownerFields(label string) string {
	var b strings.Builder
	for _, field := range [][2]string{{ownerField, label}, {hostField, hostname()}, {pidField, strconv.Itoa(os.Getpid())}} {
		if isField(field[0], field[1]) {
			fmt.Fprintf(&b, "\n%s=%s", field[0], field[1])
		}
	}
	return b.String()
}

// isField tells whether a field can be told from its neighbours.
func isField(key, value string) bool {
	return key != "" && value != "" && utf8.ValidString(value) && !strings.ContainsAny(key, "=\n\r") && !strings.ContainsAny(value, "\n\r")
}

// NodeData returns the data of the node of an acquisition. It must not be changed. ok is false if the
// node has only the client's own data.
func (t *Telemetry) NodeData(a *Acquisition) (data []byte, ok bool) {
	if t == nil || t.data == nil {
		return nil, false
	}
	data = t.data
	if a == nil || a.span == nil || !a.span.SpanContext().IsSampled() {
		return data, true
	}
	carrier := propagation.MapCarrier{}
	t.propagator().Inject(a.ctx, carrier)
	data = slices.Clone(data)
	delete(carrier, "baggage") // it is the application's, and everyone can read this
	keys := carrier.Keys()
	slices.Sort(keys)
	for _, key := range keys {
		if value := carrier[key]; len(value) <= maxField && isField(key, value) {
			data = fmt.Appendf(data, "\n%s=%s", key, value)
		}
	}
	return data, true
}

// Owner is what the data of a lock node says about its owner.
type Owner struct {
	Address string // the first line: Java's data
	Label   string
	Host    string
	PID     int
	fields  propagation.MapCarrier // the others
}

// ParseOwner reads the data of a lock node. Any client may have written it, so it may be wrong.
func ParseOwner(data []byte) Owner {
	if !utf8.Valid(data) {
		return Owner{}
	}
	first, rest, _ := strings.Cut(string(data), "\n")
	o := Owner{Address: printable(first), fields: propagation.MapCarrier{}}
	for line := range strings.Lines(rest) {
		key, value, found := strings.Cut(strings.TrimRight(line, "\n"), "=")
		if !found || !isField(key, value) {
			continue
		}
		switch key {
		case ownerField:
			o.Label = printable(value)
		case hostField:
			o.Host = printable(value)
		case pidField:
			o.PID, _ = strconv.Atoi(value)
		default:
			o.fields[key] = value
		}
	}
	return o
}

// printable removes characters that could control a terminal.
func printable(s string) string {
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

// OwnerText names this client as Owner.String names the client of a node: "orders-api on web-7,
// pid 4242".
func (t *Telemetry) OwnerText() string {
	label := DefaultLabel()
	if t != nil {
		label = t.Label
	}
	return Owner{Label: printable(label), Host: printable(hostname()), PID: os.Getpid()}.String()
}

// TraceParent returns the W3C traceparent that the data has, or "".
func (o Owner) TraceParent() string { return o.fields["traceparent"] }

// link returns the span that the owner acquires in.
func (t *Telemetry) link(ctx context.Context, o Owner) trace.SpanContext {
	if len(o.fields) == 0 {
		return trace.SpanContext{}
	}
	// Whatever ctx carries is not the owner's.
	ctx = t.propagator().Extract(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), o.fields)
	return trace.SpanContextFromContext(ctx)
}
