package tracing

// Names of the spans of queues.
const (
	SpanQueuePut     = "curator.queue.put"
	SpanQueueProcess = "curator.queue.process"
)

// Names of the attributes of a queue's spans. Metrics have only its name and outcome.
const (
	AttrQueueKind    = "curator.queue.kind"
	AttrQueueName    = "curator.queue.name" // see queue.WithName
	AttrQueuePath    = "curator.queue.path"
	AttrQueueItems   = "curator.queue.items"
	AttrQueueOutcome = "curator.queue.outcome"
)

// Outcomes of the work on a node of a queue, in addition to OutcomeError, OutcomeAlreadyGone
// and OutcomeUnknown.
const (
	OutcomeConsumed  = "consumed"
	OutcomePutBack   = "put_back"   // to the end of its line, because its function failed
	OutcomeGivenBack = "given_back" // it keeps its place
	OutcomeLost      = "lost"       // its lock was lost: another consumer gets it
	OutcomeInDoubt   = "in_doubt"   // the reply to its deletion was lost: at most once, nobody gets it
)

// Names of the metrics of queues.
const (
	MetricQueueProcessDuration = "curator.queue.process.duration"
	MetricQueueRedelivered     = "curator.queue.redelivered"
)
