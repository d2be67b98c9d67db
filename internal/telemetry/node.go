package telemetry

import "context"

// Recreated counts that a kept node with a name was created again.
func (t *Telemetry) Recreated(ctx context.Context, name string) {
	if t != nil {
		t.recreations.Add(ctx, 1, t.options.of(labels{nodeName: name}).add...)
	}
}
