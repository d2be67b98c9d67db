package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// Verify asks the quorum whether the lease is still held. It returns nil if it is, an error that
// matches ErrNotHeld if it is not, and another error, such as ctx's, if there was no answer.
// The answer was true at a moment during the call, and may be out of date when Verify returns.
// Verify costs a write. For a lease that has ended already it sends no request.
//
// Java has no counterpart.
func (l *Lease) Verify(ctx context.Context) error {
	if err := l.Err(); err != nil {
		return err
	}
	if ctx == nil {
		return zkclient.ErrNilContext
	}
	holds := l.holds()
	api := holds[0].lock.api
	var checks []zkconn.MultiOp
	for _, h := range holds {
		if h.lock.api.Identity() != api.Identity() {
			return errManyClients
		}
		checks = append(checks, zkconn.CheckOp(h.node.Path(), zkclient.AnyVersion))
	}
	var call *zkconn.Call
	err := api.Retry(ctx, "check", l.name(), func(ctx context.Context, conn *zkconn.Conn) error {
		call = zkconn.Multi(checks...)
		if err := conn.Do(ctx, 0, call); err != nil {
			return err
		}
		return call.Err
	})
	switch {
	case err != nil:
		return fmt.Errorf("lock %s: %w", l.name(), err)
	case call.Failed() < 0:
		return l.Err()
	case errors.Is(call.Refused(), framework.ErrNoNode):
		return holds[call.Failed()].gone()
	default:
		return fmt.Errorf("lock %s: %w", l.name(), call.Refused())
	}
}

var errManyClients = fmt.Errorf("%w: the parts of the lease are of several clients: ask them one by one", framework.ErrInvalidOption)

// Guard commits ops in one transaction that fails, with an error that matches ErrNotHeld, if
// the lease is not held at that moment. It returns the results of ops. These must be made
// by the lease's client or a view of it. When one of ops fails none is applied, and the
// returned results have an error for each. When the reply is lost, or ctx ends, the transaction
// may have been applied: see framework.MaybeApplied. It is sent on the session that owns the
// lock's node, or not at all.
//
// Java has no counterpart.
func (l *Lease) Guard(ctx context.Context, ops ...framework.Op) ([]framework.OpResult, error) {
	return l.guard(ctx, false, ops)
}

// GuardIdempotent is Guard with a transaction that is repeated after a lost reply, until the
// session of the lock's node ends. ops must be repeatable, and a refused repetition is judged, as
// framework.TransactionBuilder.Idempotent says: nil says that one transaction with all of ops was applied,
// perhaps before the lease was lost. If other holders may do the same step, it may have been theirs, so
// let the data name the writer, for example by Token. After the end of the session,
// too, the client reads whether it was. If that stays unknown, framework.MaybeApplied is true for
// the error, and there are no results; the error matches ErrNotHeld, too, if the server has refused
// the repetition because the lock's node is gone.
//
// The lock's node decides whether the repetition is applied, also if the lease was lost meanwhile:
// under state.StandardErrorPolicy every lost connection is a loss. A Release of a lease that is held
// ends the call, because the node may be another lease's by then; one behind a loss does not.
//
// Java has no counterpart.
func (l *Lease) GuardIdempotent(ctx context.Context, ops ...framework.Op) ([]framework.OpResult, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, zkclient.ErrNilContext
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer l.onRelease(cancel)()
	results, err := l.guard(ctx, true, ops)
	if err != nil && errors.Is(context.Cause(ctx), ErrReleased) && !errors.Is(err, ErrReleased) {
		err = fmt.Errorf("%w: %w", ErrReleased, err) // the client does not say the cause of every end
	}
	return results, err
}

// onRelease has cancel called when the lease, or one of its parts, is released, until unbind is called.
func (l *Lease) onRelease(cancel context.CancelCauseFunc) (unbind func()) {
	released := func(cause error) {
		if errors.Is(cause, ErrReleased) {
			cancel(cause)
		}
	}
	var unbinds []func()
	for _, part := range l.parts {
		unbinds = append(unbinds, part.onRelease(cancel))
	}
	if l.hold != nil {
		unbinds = append(unbinds, l.hold.bind(l.node, released))
	}
	return func() {
		for _, unbind := range unbinds {
			unbind()
		}
	}
}

// guard commits ops behind checks of the lease's nodes.
func (l *Lease) guard(ctx context.Context, idempotent bool, ops []framework.Op) ([]framework.OpResult, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	holds := l.holds()
	client, session := holds[0].lock.client, holds[0].node.Session()
	var all []framework.Op
	for _, h := range holds {
		if h.lock.api.Identity() != holds[0].lock.api.Identity() {
			return nil, errManyClients
		}
		if h.node.Session() != session { // of a lease that will turn out to be lost
			session = 0
		}
		all = append(all, h.lock.client.TransactionOp().Check().ForPath(h.lock.api.ClientPath(h.node.Path())))
	}
	if ctx != nil {
		ctx = zkclient.OnSession(ctx, session)
	}
	transaction := client.Transaction()
	if idempotent {
		transaction = transaction.Idempotent()
	}
	results, err := transaction.ForOperations(ctx, append(all, ops...)...)
	if err == nil {
		return results[len(holds):], nil
	}
	if lost := l.Err(); lost != nil && errors.Is(err, framework.ErrSessionExpired) && !framework.MaybeApplied(err) {
		return nil, lost
	}
	if results == nil { // nothing is known of them
		for _, h := range holds {
			if h.refusedBy(err) {
				return nil, fmt.Errorf("lock %s: %w: %w", l.name(), h.gone(), err)
			}
		}
		return nil, fmt.Errorf("lock %s: %w", l.name(), err)
	}
	for i, h := range holds {
		if errors.Is(results[i].Err, framework.ErrNoNode) {
			return nil, h.gone()
		}
	}
	return results[len(holds):], fmt.Errorf("lock %s: %w", l.name(), err)
}

// refusedBy reports whether err is that of the check of the hold's node, which is gone.
func (h *hold) refusedBy(err error) bool {
	op, ok := errors.AsType[*framework.OpError](err)
	return ok && op.Op == "check" && op.Path == h.lock.api.ClientPath(h.node.Path()) && errors.Is(op.Err, framework.ErrNoNode)
}

// name returns the path by which errors name the lock.
func (l *Lease) name() string { return l.holds()[0].lock.path }

// gone ends a hold whose node is missing at the server.
func (h *hold) gone() error {
	h.node.Lose(zkclient.Loss{Kind: zkclient.LossDeleted, Session: h.node.Session()})
	return h.reason()
}
