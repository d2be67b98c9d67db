// Package schema says what may be done with which nodes: which modes they may have,
// whether they may be deleted or watched, and what data and ACL they take. A client with a
// [Set] checks its operations against it before it sends them.
//
// A schema binds the clients that are given it and nobody else. The server knows nothing
// of it: other clients, clients without the set, and the server's own removal of
// ephemeral and container nodes are not held to it. It is no substitute for ACLs. Parents
// that an operation creates on its way, children that it deletes, and sets of watches that
// a reconnect repeats are not checked either, nor is what exists already.
//
// Paths are those of the client's user: without its namespace, without the prefix that
// protection adds, and without the number of a sequential node, so that a sequential
// create below /jobs may have the path "/jobs/".
//
// Schemas and sets cannot be changed once made and are safe for concurrent use, as
// validators must be. Nothing here blocks or does I/O but [LoadJSON], which reads its
// reader to the end. A lookup takes the time of one map access and, if no schema has that
// very path, of matching each regular expression until one fits.
//
// The counterpart in Java is org.apache.curator.framework.schema. Files that Java's
// SchemaSetLoader reads can be shared, within the limits named at [LoadJSON] and
// [NewRegexp]. Other than in Java, a validator is told which operation it judges and says
// what is wrong, the root can have a schema, and two schemas cannot have the same regular
// expression.
package schema
