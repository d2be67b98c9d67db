// Package leader elects one of the processes that name the same path.
//
// Leadership is a lock: it is held by a *locks.Lease, whose context ends when it can no
// longer be believed, before another process can be elected, and whose token a resource
// can check. What package locks promises and does not holds here, word for word: a
// process that was stopped believes that it leads until it runs again. Where that
// matters write through Lease.Guard, or show Lease.Token with the first access.
//
// # Leading
//
// LeaderSelector is for work that only the leader does:
//
//	selector, err := leader.NewLeaderSelector(client, "/leaders/billing")
//	...
//	g.Go(func() error {
//		return selector.Run(ctx, func(ctx context.Context, lease *locks.Lease) error {
//			return bill(ctx, lease.Token()) // until ctx ends: step down by returning
//		})
//	})
//
// Run stands again after every term. There are never two terms of one selector at once,
// also when the first is lost: the function must have returned before Run stands again.
//
// LeaderLatch is for programs that ask now and then whether they lead, and keep the
// leadership until they are closed:
//
//	if lease := latch.Leadership(); lease.Err() == nil {
//		return purge(lease.Bind(ctx), lease.Token())
//	}
//
// Ask Err, and not whether the lease is nil: a lease that has ended may not be replaced yet.
//
// # Sharing with Java
//
// LeaderSelector shares elections with Java's LeaderSelector and, on the same path, with
// InterProcessMutex; LeaderLatch with Java's LeaderLatch. A latch and a selector do not
// share a path: locks.ErrKindMismatch. All of them elect in the order of joining.
//
// A Java latch that leads does not watch its own node. If somebody deletes that node, the
// Java latch goes on to report that it leads, although another participant has been
// elected. Java 5.4.0 does so, too, on a node of an earlier session, until the server ends
// that session. Go latches cannot see either. Participants tells who leads by the nodes.
//
// # Connection loss
//
// Under the standard error policy a term ends when the connection breaks. A latch keeps
// its node meanwhile, and with it its place: when the session lives on, the next term has
// the same token, because nobody else led in between. A selector gives its node up, and
// stands again at the end of the line. Under state.SessionErrorPolicy a term outlives
// what the session outlives, up to the lease's own deadline. After the end of a session a
// new node is made, in the new session; one of an earlier session is never taken for ours
// and is removed.
//
// So the token tells processes apart, and not the terms of one latch on one node. Code of an
// ended term that ignores its context passes the check of the next term on the same node,
// in Guard as well.
//
// # Concurrency
//
// All methods may be called from several goroutines. A context bounds the call that it is
// given to and nothing else.
//
// The counterpart in Java is org.apache.curator.framework.recipes.leader.
package leader
