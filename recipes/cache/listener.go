package cache

import (
	"context"
	"slices"
)

// ListenerBuilder makes a listener of functions for single kinds of events, as Java's
// CuratorCacheListener.builder does, for ported programs. It is a value: every step returns a
// copy. Events without a function are ignored; several functions for one event are called in
// the order of the steps. A nil function does nothing.
//
//	cache.Listenable().Add(cache.NewListener().ForDeletes(forget).AfterInitialized().Build())
//
// New programs use CuratorCache.Updates, or a switch on Event.Type.
//
// Java: CuratorCacheListenerBuilder.
type ListenerBuilder struct {
	fns   []func(ctx context.Context, event Event)
	after bool
}

// NewListener returns a builder without functions.
//
// Java: CuratorCacheListener.builder.
func NewListener() ListenerBuilder { return ListenerBuilder{} }

// on returns a copy with one more function.
func (b ListenerBuilder) on(t EventType, fn func(ctx context.Context, event Event)) ListenerBuilder {
	b.fns = append(slices.Clip(b.fns), func(ctx context.Context, event Event) {
		if event.Type == t {
			fn(ctx, event)
		}
	})
	return b
}

// ForCreates calls fn for every NodeCreated.
//
// Java: forCreates.
func (b ListenerBuilder) ForCreates(fn func(ctx context.Context, node ChildData)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(NodeCreated, func(ctx context.Context, e Event) { fn(ctx, e.New) })
}

// ForChanges calls fn for every NodeChanged.
//
// Java: forChanges.
func (b ListenerBuilder) ForChanges(fn func(ctx context.Context, before, node ChildData)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(NodeChanged, func(ctx context.Context, e Event) { fn(ctx, e.Old, e.New) })
}

// ForDeletes calls fn for every NodeDeleted.
//
// Java: forDeletes.
func (b ListenerBuilder) ForDeletes(fn func(ctx context.Context, before ChildData)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(NodeDeleted, func(ctx context.Context, e Event) { fn(ctx, e.Old) })
}

// ForInitialized calls fn for Initialized.
//
// Java: forInitialized.
func (b ListenerBuilder) ForInitialized(fn func(ctx context.Context)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(Initialized, func(ctx context.Context, _ Event) { fn(ctx) })
}

// AfterInitialized drops the events that come before Initialized. A listener that is added to a
// loaded cache gets no Initialized, and so gets no events.
//
// Java: afterInitialized.
func (b ListenerBuilder) AfterInitialized() ListenerBuilder {
	b.after = true
	return b
}

// Build returns the listener. Add it to one cache only, because it stores whether Initialized
// has come.
//
// Java: build.
func (b ListenerBuilder) Build() func(ctx context.Context, event Event) {
	fns, silent := b.fns, b.after // a listener is called by one goroutine at a time
	return func(ctx context.Context, event Event) {
		silent = silent && event.Type != Initialized
		if silent {
			return
		}
		for _, fn := range fns {
			fn(ctx, event)
		}
	}
}
