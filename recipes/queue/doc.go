// Package queue has Curator's queues, in the nodes of Java's.
//
// ZooKeeper is a poor place for a queue, and Curator says so, too. Every item is a node in
// every server's memory, of at most 1 MB. Every consumer keeps a list of all of them. A list of
// some ten thousand items is larger than a client accepts. Use these queues to share or drain
// those that Java programs have, and for a few items that must be as consistent as the rest:
// tasks by the hundred, timers. Use a message broker otherwise.
//
//	tasks, err := queue.NewDistributedQueue(client, "/queues/tasks", codec.JSON[Task](), queue.WithLockPath("/queues/tasks-locks"))
//	...
//	err = tasks.Put(ctx, task)
//	...
//	g.Go(func() error {
//		return tasks.Consume(ctx, func(ctx context.Context, m queue.Message[Task]) error { return do(ctx, m.Item) })
//	})
//
// # What is guaranteed
//
// Without WithLockPath an item is consumed at most once: it is deleted before it is handed
// over. It is lost if the consumer ends then, or if the reply to the deletion is lost. With
// WithLockPath an item is consumed at least once: it stays until its function has returned nil,
// and goes to another consumer if this one's session ends. All consumers of a queue must agree
// on that; nothing notices if they do not. A function whose effects are in ZooKeeper may have
// them exactly once, through [Message.Guard].
//
// One consumer that runs one function at a time gets the items in order: in the order of their
// puts, of their priorities, or of their times. Several consumers, or functions, do not.
//
// What is not guaranteed: that at most one function runs for an item WithLockPath. A process
// that was cut off may still run its function when another consumer has the item already. The
// context of the function has ended by then, and [Message.Guard] and the token of the lease
// refuse the late write.
//
// A Put whose reply was lost may have been applied, see framework.MaybeApplied, and is not
// repeated: to repeat it may put the item twice.
//
// # Concurrency, contexts and clean-up
//
// All methods may be called from several goroutines. A context bounds the call that it is given
// to. Consume runs until its context ends, and joins everything that it has started; nothing
// has to be closed.
//
// Consumers need servers of ZooKeeper 3.6 or later, for persistent watches.
//
// # Java
//
// The package stands for org.apache.curator.framework.recipes.queue. Not here are QueueSharder,
// because a queue that needs shards needs a broker; BlockingQueueConsumer, flushPuts and puts
// in the background, because goroutines do that; ErrorMode, because the function's error says
// it; put listeners, because Put returns when the item is stored; and getLastMessageCount,
// which Java does not keep either.
package queue
