package tracing

import "time"

// TracerDriver receives durations and counts by name. It is called on the goroutine that made the
// operation, or for what happens to the connection on a goroutine of the client's; it must
// be safe for concurrent use, and return soon.
//
// Java: TracerDriver.
type TracerDriver interface {
	// AddTrace tells of an operation, under Java's name for it.
	AddTrace(name string, elapsed time.Duration)
	// AddCount tells of an event.
	AddCount(name string, increment int)
}

// AdvancedTracerDriver is a TracerDriver that receives records in place of durations and
// counts. It is found by a type assertion on what WithDriver was given.
//
// Java: AdvancedTracerDriver.
type AdvancedTracerDriver interface {
	TracerDriver
	// AddOperationTrace tells of an operation.
	AddOperationTrace(t OperationTrace)
	// AddEventTrace tells of an event.
	AddEventTrace(t EventTrace)
}

// OperationTrace describes one operation, all its tries taken together.
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
