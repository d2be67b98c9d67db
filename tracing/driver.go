package tracing

import "time"

// TracerDriver receives durations and counts by name. It is called on the goroutine of the
// operation, and for events of the connection on a goroutine of the client. It must be safe for
// concurrent use, and return soon.
//
// Java: TracerDriver.
type TracerDriver interface {
	// AddTrace reports an operation, with Java's name.
	AddTrace(name string, elapsed time.Duration)
	// AddCount reports an event.
	AddCount(name string, increment int)
}

// AdvancedTracerDriver is a TracerDriver that receives records instead of durations and counts.
// WithDriver finds it by a type assertion on its argument.
//
// Java: AdvancedTracerDriver.
type AdvancedTracerDriver interface {
	TracerDriver
	// AddOperationTrace reports an operation.
	AddOperationTrace(t OperationTrace)
	// AddEventTrace reports an event.
	AddEventTrace(t EventTrace)
}

// OperationTrace describes one operation with all its tries.
//
// Java: OperationTrace.
type OperationTrace struct {
	Name          string // Java's, such as "CreateBuilderImpl-Foreground"
	Path          string // the server's, without the chroot
	ReturnCode    int32  // ZooKeeper's, 0 for success
	Elapsed       time.Duration
	RequestBytes  int
	ResponseBytes int
	SessionID     int64
}

// EventTrace describes one event: "retries-allowed", "retries-disallowed",
// "session-expired", "connection-string-changed", or a state of the connection by Java's
// name, "Disconnected" or "Expired".
//
// Java: EventTrace.
type EventTrace struct {
	Name      string
	SessionID int64
}
