package tracing

// Names of the span of package barriers, and of its attributes.
const (
	SpanBarrierWait = "curator.barrier.wait"
	AttrBarrierKind = "curator.barrier.kind" // one of those below
	AttrBarrierPath = "curator.barrier.path"
)

// What a span of a barrier waits for.
const (
	BarrierOpen  = "open"  // a DistributedBarrier, until it is open
	BarrierEnter = "enter" // a DistributedDoubleBarrier, until enough members have come
	BarrierLeave = "leave" // and until all have left
)
