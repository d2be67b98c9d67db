package telemetry

import "github.com/go-curator/curator/tracing"

// driver is a user's TracerDriver. At least one of the fields is nil.
type driver struct {
	plain    tracing.TracerDriver
	advanced tracing.AdvancedTracerDriver
}

// newDriver uses the advanced interface alone if d has it, as in Java.
func newDriver(d tracing.TracerDriver) driver {
	if advanced, ok := d.(tracing.AdvancedTracerDriver); ok {
		return driver{advanced: advanced}
	}
	return driver{plain: d}
}

func (d driver) enabled() bool { return d.plain != nil || d.advanced != nil }

func (d driver) event(name string, session int64) {
	switch {
	case d.advanced != nil:
		d.advanced.AddEventTrace(tracing.EventTrace{Name: name, SessionID: session})
	case d.plain != nil:
		d.plain.AddCount(name, 1)
	}
}

func (d driver) operation(o tracing.OperationTrace) {
	switch {
	case d.advanced != nil:
		d.advanced.AddOperationTrace(o)
	case d.plain != nil:
		d.plain.AddTrace(o.Name, o.Elapsed)
	}
}

// javaNames has Java's names of the operations. Java has no batch.
var javaNames = map[string]string{
	"create": "CreateBuilderImpl", "delete": "DeleteBuilderImpl", "exists": "ExistsBuilderImpl",
	"getData": "GetDataBuilderImpl", "setData": "SetDataBuilderImpl", "getChildren2": "GetChildrenBuilderImpl",
	"getACL": "GetACLBuilderImpl", "setACL": "SetACLBuilderImpl", "sync": "SyncBuilderImpl",
	"getConfig": "GetConfigBuilderImpl", "reconfig": "ReconfigBuilderImpl",
	"multi": "CuratorMultiTransactionImpl", "check": "CuratorMultiTransactionImpl",
	"addWatch": "AddWatchBuilderImpl", "removeWatches": "RemoteWatches", // as Java spells it
}

func javaName(operation string, inBackground bool) string {
	name, ok := javaNames[operation]
	if !ok {
		name = operation
	}
	if inBackground {
		return name + "-Background"
	}
	return name + "-Foreground"
}
