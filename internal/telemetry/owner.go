package telemetry

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/internal/layout"
)

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

// owner is this client, as the nodes of its locks name it.
func owner(label string) layout.Owner {
	return layout.Owner{Label: label, Host: hostname(), PID: os.Getpid()}
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
	delete(carrier, "baggage") // it is the application's, and everyone can read this
	return layout.Owner{Fields: carrier}.Append(slices.Clone(data)), true
}

// OwnerText names this client as [layout.Owner.String] names the client of a node: "orders-api on
// web-7, pid 4242".
func (t *Telemetry) OwnerText() string {
	label := DefaultLabel()
	if t != nil {
		label = t.Label
	}
	o := owner(layout.Printable(label))
	o.Host = layout.Printable(o.Host)
	return o.String()
}

// link returns the span that the owner acquires in.
func (t *Telemetry) link(ctx context.Context, o layout.Owner) trace.SpanContext {
	if len(o.Fields) == 0 {
		return trace.SpanContext{}
	}
	// Whatever ctx carries is not the owner's.
	ctx = t.propagator().Extract(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), propagation.MapCarrier(o.Fields))
	return trace.SpanContextFromContext(ctx)
}
