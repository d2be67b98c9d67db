// Package migrations brings a tree of nodes from one layout to the next, once for all
// processes.
//
//	set := migrations.Set{ID: "orders", Migrations: []migrations.Migration{
//		{client.TransactionOp().Create().WithData(nil).ForPath("/orders")},
//		{client.TransactionOp().SetData().ForPath("/orders", []byte("v2"))},
//	}}
//	n, err := migrations.Migrate(ctx, client, "/migrations/locks", "/migrations/applied", set)
//
// The migrations of a set that have not been applied yet are applied in their order, in
// one transaction under a lock, with a node for each that has its hash. So all of them are
// applied or none, also when a reply is lost. Later migrations are added at the end of the set.
//
// # What is guaranteed
//
// A migration is applied at most once, by whichever process comes first. The transaction checks
// that the lock is still held, so a process that was cut off applies nothing late. A
// migration that was changed, moved or removed after it was applied is [ErrMismatch], and nothing
// is applied then.
//
// # What is not
//
// Nothing is undone: there are no migrations back. Nothing keeps other clients from changing the
// same nodes meanwhile, or afterwards.
//
// A transaction has the size of a request, just under 1 MiB by default: what has not been applied
// and does not fit is framework.ErrTooLarge before the transaction is sent. Programs that add
// migrations over time apply them in several transactions. A new ensemble gets all of them in one.
//
// The hash of a migration is about the bytes of its requests. A create without WithData has the
// client's default data, which is the address of the local host, so give the data. Compressed data,
// and an ACL from an ACL provider, are part of the hash, too.
//
// # Concurrency and contexts
//
// Migrate may be called by several goroutines and processes at once: all but one wait for the
// lock. The context bounds all of it. Nothing has to be closed.
//
// # Java
//
// The package stands for org.apache.curator.x.async.migrations. Locks, metadata and hashes are
// Java's, so that programs in both languages may apply the same set. Java's hash is of the text
// that toString returns for a request; it is that of ZooKeeper 3.8. Compressed data differs between
// the languages, and so does its hash.
package migrations
