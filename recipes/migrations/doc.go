// Package migrations brings a tree of nodes from one layout to the next, once for all
// processes.
//
//	set := migrations.Set{ID: "orders", Migrations: []migrations.Migration{
//		{client.TransactionOp().Create().WithData(nil).ForPath("/orders")},
//		{client.TransactionOp().SetData().ForPath("/orders", []byte("v2"))},
//	}}
//	n, err := migrations.Migrate(ctx, client, "/migrations/locks", "/migrations/applied", set)
//
// Migrate applies the migrations of a set that have not been applied yet, in their order, in
// one transaction under a lock. The transaction also creates a node for each migration, with
// its hash. So all of them are applied or none, also when a reply is lost. Add new migrations
// at the end of the set.
//
// # What is guaranteed
//
// A migration is applied at most once, by the first process. The transaction checks that the
// lock is still held, so a process that was cut off applies nothing late. If a migration was
// changed, moved or removed after it was applied, Migrate returns [ErrMismatch], and applies
// nothing.
//
// # What is not guaranteed
//
// Migrations cannot be undone. Other clients can change the same nodes during and after a
// migration.
//
// A transaction must fit into one request, just under 1 MiB by default. If the missing
// migrations do not fit, Migrate returns framework.ErrTooLarge before it sends the transaction.
// Programs that add migrations over time apply them in several transactions. A new ensemble
// gets all of them in one.
//
// The hash of a migration is computed from the bytes of its requests. A create without WithData
// has the client's default data, which is the address of the local host, so give the data.
// Compressed data, and an ACL from an ACL provider, are part of the hash, too.
//
// # Concurrency and contexts
//
// Several goroutines and processes may call Migrate at the same time: all except one wait for
// the lock. The context bounds the whole call. There is no Close.
//
// # Java
//
// The package stands for org.apache.curator.x.async.migrations. Locks, metadata and hashes are
// Java's, so programs in both languages may apply the same set. Java computes the hash from the
// text that toString returns for a request; the hashes here are those of ZooKeeper 3.8.
// Compressed data differs between the languages, and so does its hash.
package migrations
