// Package modeled reads and writes typed nodes: a [ModelSpec] has a path, a codec and a mode,
// and a [ModeledFramework] reads and writes models with it.
//
//	orders := modeled.Wrap(client, modeled.ModelSpec[Order]{
//		Path: modeled.ParseZPathWithIDs("/orders/{id}"), Codec: codec.JSON[Order](),
//	})
//	...
//	order := orders.Resolved(id)
//	node, err := order.Read(ctx)          // node.Model, node.Stat
//	node, err = order.Update(ctx, changed)
//
// The nodes are those of Java's modeled framework with the same serializer. Java's asynchronous
// calls are calls with a context here; use an errgroup for concurrent calls.
//
// # What is guaranteed
//
// Each call is one operation of package framework, with its guarantees: after a lost reply see
// framework.MaybeApplied.
//
// CreateOp, UpdateOp, DeleteOp and CheckOp are the operations for a transaction of several
// models. The Guard of a lock's lease may commit them.
//
// # What is not guaranteed
//
// Set and Update overwrite unknown changes. Use [ModeledFramework.WithVersion] or
// [ModeledFramework.Modify] where others may write the same node.
//
// [CachedModeledFramework] reads from memory, and is behind the server: see package cache.
//
// # Values
//
// Specs, paths and frameworks are values; every step returns a copy, and all of them may be
// used by several goroutines. The operation that uses an invalid path or spec returns the
// error, before anything is sent.
//
// # Java
//
// The counterpart in Java is org.apache.curator.x.async.modeled. Its classes for one to
// ten typed parameters are functions here:
//
//	func orderAt(customer CustomerID, order OrderID) modeled.ModeledFramework[Order] {
//		return orders.Resolved(customer, order)
//	}
//
// For the children of a missing node Java returns an error unless an option is set; here there
// are no children. A parameter of [ZPath.SchemaPathPattern] is one name, in Java any text.
package modeled
