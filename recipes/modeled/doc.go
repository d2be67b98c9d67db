// Package modeled has nodes of one type: a path, a codec and a mode make a [ModelSpec], and
// a [ModeledFramework] reads and writes models by it.
//
//	orders := modeled.Wrap(client, modeled.ModelSpec[Order]{
//		Path: modeled.ParseZPathWithIDs("/orders/{id}"), Codec: codec.JSON[Order](),
//	})
//	...
//	order := orders.Resolved(id)
//	node, err := order.Read(ctx)          // node.Model, node.Stat
//	node, err = order.Update(ctx, changed)
//
// The nodes are those of Java's modeled framework with the same serializer. What is
// asynchronous there is a call with a context here; several at once are an errgroup's.
//
// # What is guaranteed, and what is not
//
// Each call is one operation of package framework, with its guarantees: after a lost reply see
// framework.MaybeApplied. Use [ModeledFramework.WithVersion] or [ModeledFramework.Modify] where
// others may write the same node: Set and Update overwrite what they do not know.
// A transaction of several models is made of CreateOp, UpdateOp, DeleteOp and CheckOp, and may be
// committed by the Guard of a lock's lease.
//
// [CachedModeledFramework] reads from memory, and is behind the server as every cache is: see
// package cache.
//
// # Values
//
// Specs, paths and frameworks are values; every step returns a copy, and all of them may be
// used by several goroutines. What is wrong with a path or a spec is returned by the operation
// that uses it, before anything is sent.
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
// Java's children of a node that is missing are an error unless an option says otherwise; here
// there are none. A parameter of [ZPath.SchemaPathPattern] is one name, in Java any text.
package modeled
