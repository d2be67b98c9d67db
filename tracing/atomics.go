package tracing

// Names of the span and the metric of package atomics, and of their attributes. The metric has
// no attribute but AttrAtomicName.
const (
	SpanAtomicUpdate        = "curator.atomic.update"
	MetricAtomicTries       = "curator.atomic.tries"
	AttrAtomicName          = "curator.atomic.name" // see atomics.WithName
	AttrAtomicPath          = "curator.atomic.path"
	AttrAtomicTries         = "curator.atomic.tries"          // without the lock
	AttrAtomicPromotedTries = "curator.atomic.promoted_tries" // while the lock was held
)
