// Package leader elects one of the processes that name the same path.
//
// Leadership is a lock. The leader holds a *locks.Lease. Its context ends before another
// process can be elected, and a resource can check its token. The promises and limits of
// package locks apply: a process that was stopped believes that it leads until it runs again.
// Where this matters write through Lease.Guard, or send Lease.Token with the first access.
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
// Run joins the election again after every term. One selector never has two terms at the same
// time, also when the first term is lost: Run joins again only after the function has returned.
//
// LeaderLatch is for programs that check from time to time whether they lead, and keep the
// leadership until they are closed:
//
//	if lease := latch.Leadership(); lease.Err() == nil {
//		return purge(lease.Bind(ctx), lease.Token())
//	}
//
// Check Err, and not whether the lease is nil, because Leadership may still return the lease of
// an ended term.
//
// # Sharing with Java
//
// LeaderSelector shares elections with Java's LeaderSelector and, on the same path, with
// InterProcessMutex; LeaderLatch with Java's LeaderLatch. A latch and a selector on one path
// return locks.ErrKindMismatch. All of them elect in the order of joining.
//
// # Connection loss
//
// Under the standard error policy a term ends when the connection is lost. A latch keeps its
// node, and so its place in the queue. If the session lives on, the next term has the same
// token, because nobody else led in between. A selector deletes its node, and joins again at
// the end of the queue. Under state.SessionErrorPolicy a term survives a lost connection as
// long as the session lives, up to the lease's deadline. After the end of a session a new node
// is created in the new session. A node of an earlier session is never used, and is removed.
//
// # What is not guaranteed
//
// The token distinguishes processes, but not the terms of one latch on one node. A resource, and
// Guard, accept writes of an ended term on the same node if its code ignores its context.
//
// A Java latch that leads does not watch its own node. If somebody deletes that node, the Java
// latch still reports that it leads, although another participant was elected. Java 5.4.0 does
// the same on a node of an earlier session, until the server ends that session. Go latches
// notice neither. Participants decides by the nodes.
//
// # Concurrency
//
// All methods may be called from several goroutines. A context bounds only the call that it is
// given to.
//
// The counterpart in Java is org.apache.curator.framework.recipes.leader.
package leader

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrStop is returned by a leader's function to end Run with nil, so that Run does not join
	// again. This package never returns it.
	ErrStop = errors.New("stop standing for election")

	// ErrInterrupted is the cause of the end of a leader's context after Interrupt.
	ErrInterrupted = errors.New("leadership was interrupted")

	// ErrNoLeader is returned when nobody leads.
	ErrNoLeader = errors.New("no leader")
)

var (
	errNil     = fmt.Errorf("%w: the leader latch or selector is nil or the zero value", framework.ErrNotStarted)
	errNilFunc = fmt.Errorf("%w: takeLeadership is nil", framework.ErrInvalidOption)
)
