// Package queue has Curator's queues, with the same nodes as Java's.
//
// ZooKeeper is not suited for large queues, as Curator's documentation says, too. Every item is
// a node of at most 1 MB in every server's memory. Every consumer keeps a list of all items. A
// client does not accept the list of a very long queue (framework.WithMaxReply). Use these
// queues to share or drain queues of Java programs, and for a small number of items, such as
// hundreds of tasks or timers. Otherwise use a message broker.
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
// Without WithLockPath an item is consumed at most once: it is deleted before the function is
// called. It is lost if the consumer ends then, or if the reply to the deletion is lost. With
// WithLockPath an item is consumed at least once: it stays until its function has returned nil,
// and goes to another consumer if this one's session ends. All consumers of a queue must use
// the same lock path; this is not checked. With [Message.Guard], the effects of a function in
// ZooKeeper happen exactly once.
//
// One consumer that runs one function at a time gets the items in order: in the order of their
// puts, of their priorities, or of their times. Several consumers, or functions, do not.
//
// # What is not guaranteed
//
// With WithLockPath, two functions may run for one item: a process that was cut off may still
// run its function when another consumer has the item already. The context of the first
// function has ended by then, and [Message.Guard] and the token of the lease refuse the late
// write.
//
// A Put whose reply was lost may have been applied, see framework.MaybeApplied. It is not
// repeated, because that may put the item twice.
//
// # Concurrency, contexts and clean-up
//
// All methods may be called from several goroutines. A context bounds the call that it is given
// to. Consume runs until its context ends, and joins its goroutines. There is no Close.
//
// Servers before ZooKeeper 3.6 have no persistent watches. There a call that waits reads the whole list of
// items after every change.
//
// # Java
//
// The package stands for org.apache.curator.framework.recipes.queue. It does not have
// QueueSharder, because a queue that needs shards needs a broker; BlockingQueueConsumer,
// flushPuts and background puts, because goroutines replace them; ErrorMode, because the
// function's error replaces it; put listeners, because Put returns when the item is stored; and
// getLastMessageCount, which Java does not update either.
package queue
