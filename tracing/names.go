package tracing

// ScopeName is the instrumentation scope of every span and metric.
const ScopeName = "github.com/go-curator/curator"

// Names of spans. A span of a ZooKeeper operation has the name of the operation.
const (
	SpanLockAcquire = "curator.lock.acquire"
	SpanLockRelease = "curator.lock.release"
	SpanLockLost    = "curator.lock.lost"
	SpanLockDo      = "curator.lock.do"

	SpanLeaderElected = "curator.leader.elected"
	SpanLeaderTermEnd = "curator.leader.term.end"

	SpanCacheLoad = "curator.cache.load"
)

// Names of the events of an acquire's span and of an operation's span.
const (
	EventEnqueued    = "enqueued"    // its node is there
	EventWaiting     = "waiting"     // for the node ahead
	EventSuspended   = "suspended"   // the connection was lost meanwhile
	EventReconnected = "reconnected" // and is back
	EventGranted     = "granted"
	EventRetry       = "retry" // of an operation
)

// Names of attributes of spans and their events. Metrics have only these attributes: a lock's
// kind, name, outcome, end and loss; an election's and a cache's name; an operation's name and
// error; the server's name; the connection's state; a session's end; a watch's type.
const (
	AttrLockKind           = "curator.lock.kind"
	AttrLockName           = "curator.lock.name" // see locks.WithName
	AttrLockPath           = "curator.lock.path"
	AttrLockTry            = "curator.lock.try"
	AttrLockOutcome        = "curator.lock.outcome"
	AttrLockToken          = "curator.lock.token"
	AttrLockReentrant      = "curator.lock.reentrant"
	AttrLockHeldTime       = "curator.lock.held_time" // seconds
	AttrLockContenders     = "curator.lock.contenders_ahead"
	AttrLockEnd            = "curator.lock.end"
	AttrLossReason         = "curator.lock.loss.reason"
	AttrLeaderName         = "curator.leader.name" // see leader.WithName
	AttrLeaderPath         = "curator.leader.path"
	AttrLeaderRecipe       = "curator.leader.recipe"
	AttrLeaderToken        = "curator.leader.token"
	AttrLeaderTerm         = "curator.leader.term" // seconds
	AttrLeaderEnd          = "curator.leader.end"
	AttrCacheName          = "curator.cache.name" // see cache.WithName
	AttrCachePath          = "curator.cache.path"
	AttrCacheNodes         = "curator.cache.nodes"
	AttrPredecessorOwner   = "curator.lock.predecessor.owner"
	AttrPredecessorOwnSess = "curator.lock.predecessor.own_session"
	AttrLink               = "curator.link"
	AttrRetryAttempt       = "curator.retry.attempt"
	AttrPath               = "zookeeper.path"
	AttrSessionID          = "zookeeper.session.id"
	AttrZxid               = "zookeeper.zxid"
	AttrState              = "zookeeper.connection.state"
	AttrExpirationCause    = "zookeeper.session.expiration.cause"
	AttrWatchType          = "zookeeper.watch.type"
)

// LinkPredecessor is the value of AttrLink on the link from a waiter to its predecessor.
const LinkPredecessor = "predecessor"

// Kinds of locks.
const (
	KindMutex     = "mutex"
	KindRead      = "rw_read"
	KindWrite     = "rw_write"
	KindSemaphore = "semaphore"
	KindMulti     = "multi"
	KindLatch     = "leader_latch" // the lease of a leader latch; a leader selector is a mutex
)

// Recipes that elect a leader, as spans have them.
const (
	RecipeLatch    = "latch"
	RecipeSelector = "selector"
)

// Outcomes of an acquire and of a release.
const (
	OutcomeAcquired    = "acquired"
	OutcomeNotAcquired = "not_acquired" // others hold the lock: no error
	OutcomeTimeout     = "timeout"
	OutcomeCanceled    = "canceled"
	OutcomeError       = "error"
	OutcomeReleased    = "released"
	OutcomeAlreadyGone = "already_gone" // the lock was lost
	OutcomeUnknown     = "unknown"      // no answer yet
)

// Ends of a hold and of a leader's term.
const (
	EndReleased = "released"
	EndLost     = "lost"
)

// Causes of the end of a session.
const (
	CauseServer        = "server"
	CauseLocalDeadline = "local_deadline" // presumed, without a word from a server
)

// Names of metrics.
const (
	MetricOperationDuration  = "db.client.operation.duration"
	MetricAcquireDuration    = "curator.lock.acquire.duration"
	MetricHoldDuration       = "curator.lock.hold.duration"
	MetricHeld               = "curator.lock.held"
	MetricPending            = "curator.lock.pending"
	MetricLosses             = "curator.lock.losses"
	MetricDropped            = "curator.lock.dropped"
	MetricContenders         = "curator.lock.contenders"
	MetricSequenceRemaining  = "curator.lock.sequence.remaining"
	MetricLeaderStatus       = "curator.leader.status"
	MetricLeaderTransitions  = "curator.leader.transitions"
	MetricCacheNodes         = "curator.cache.nodes"
	MetricCacheEvents        = "curator.cache.events"
	MetricCacheStale         = "curator.cache.stale"
	MetricSessionTransitions = "zookeeper.client.session.transitions"
	MetricSessionExpirations = "zookeeper.client.session.expirations"
	MetricLeaseRemaining     = "zookeeper.client.session.lease.remaining"
	MetricLeaseNearest       = "zookeeper.client.session.lease.nearest"
	MetricEphemeralsSize     = "zookeeper.client.session.ephemerals.size"
	MetricEphemeralsLimit    = "zookeeper.client.session.ephemerals.limit"
	MetricChildrenSize       = "zookeeper.client.children.size"
	MetricProofDuration      = "zookeeper.client.session.proof.duration"
	MetricConnectionAttempts = "zookeeper.client.connection.attempts"
	MetricDisconnects        = "zookeeper.client.connection.ends"
	MetricHandshakeDuration  = "zookeeper.client.connection.handshake.duration"
	MetricIO                 = "zookeeper.client.connection.io"
	MetricPingDuration       = "zookeeper.client.connection.ping.duration"
	MetricOutstanding        = "zookeeper.client.requests.outstanding"
	MetricOldestRequest      = "zookeeper.client.requests.oldest"
	MetricRetries            = "zookeeper.client.retries"
	MetricWatches            = "zookeeper.client.watch.count"
)

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

// AttrNodeName is the attribute of a kept node's metric; see nodes.WithName.
const AttrNodeName = "curator.node.name"

// MetricNodeRecreations is the name of the metric of kept nodes.
const MetricNodeRecreations = "curator.node.recreations"

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
