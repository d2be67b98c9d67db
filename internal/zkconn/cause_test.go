package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/zkconn"
)

// reason is an error of a program.
type reason struct{ error }

// TestCause looks for errors in the cause of a context: what is the caller's is found, and what says something
// about another request is not.
func TestCause(t *testing.T) {
	errMine := errors.New("mine")
	other := &zkconn.TransportError{Err: zkconn.ErrConnectionLoss, Sent: true}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.Join(errMine, reason{errMine}, fmt.Errorf("other request: %w: %w", zkconn.ErrNoNode, other), zkconn.ErrClosed))
	err := error(&zkconn.TransportError{Err: ctx.Err(), Detail: zkconn.Cause(ctx)})

	for target, want := range map[error]bool{
		context.Canceled: true, errMine: true, context.Cause(ctx): true, zkconn.ErrClosed: true,
		zkconn.ErrNoNode: false, zkconn.ErrConnectionLoss: false,
	} {
		if errors.Is(err, target) != want {
			t.Errorf("%v is found: %t", target, !want)
		}
	}
	if _, ok := errors.AsType[reason](err); !ok {
		t.Error("the caller's type is not found")
	}
	if e, ok := errors.AsType[*zkconn.Error](err); ok {
		t.Errorf("%v is found", e)
	}
	if e, ok := errors.AsType[*zkconn.TransportError](errors.Unwrap(fmt.Errorf("%w", zkconn.Cause(ctx)))); ok {
		t.Errorf("%v is found", e)
	}
	var unsure interface{ MaybeApplied() bool }
	if errors.As(zkconn.Cause(ctx), &unsure) {
		t.Errorf("%v says that something may have been applied", unsure)
	}
	if errors.Is(err, zk.ErrNoAuth) {
		t.Error("an error is found that is not there")
	}
	if cause := zkconn.Cause(context.Background()); cause != nil {
		t.Errorf("a context that has not ended has the cause %v", cause)
	}
	plain, stop := context.WithCancel(t.Context())
	stop()
	if cause := zkconn.Cause(plain); cause != nil {
		t.Errorf("without a reason the cause is %v", cause)
	}
}
