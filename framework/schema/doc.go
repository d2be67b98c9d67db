// Package schema describes the permitted nodes: their modes, whether they may be deleted or
// watched, and their data and ACLs. A client with a [Set] checks its operations against it
// before it sends them.
//
// A schema only affects clients that use it. The server does not know it, so it affects neither
// other clients nor the server's own removal of ephemeral and container nodes. It does not
// replace ACLs. The client does not check parents that an operation creates, children that it
// deletes, watches that a reconnect sets again, and nodes that exist already.
//
// Paths are without the client's namespace, without the prefix of protection, and without the
// number of a sequential node, so a sequential create below /jobs may have the path "/jobs/".
//
// Schemas and sets are immutable and safe for concurrent use. Validators must be safe for
// concurrent use, too. Nothing blocks or does I/O except [LoadJSON], which reads its reader to
// the end. A lookup takes one map access and, if no schema has exactly that path, matches the
// regular expressions until one fits.
//
// The counterpart in Java is org.apache.curator.framework.schema. Files for Java's
// SchemaSetLoader can be shared, within the limits described at [LoadJSON] and [NewRegexp].
// Unlike in Java, a validator gets the operation and returns an error, the root can have a
// schema, and two schemas cannot have the same regular expression.
package schema
