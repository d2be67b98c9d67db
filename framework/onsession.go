package framework

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/zkconn"
)

// boundSession is the key of the session in the contexts of onSession.
type boundSession struct{}

// onSession returns a copy of ctx for transactions and reads that are sent on this session or not at all.
func onSession(ctx context.Context, session int64) context.Context {
	return context.WithValue(ctx, boundSession{}, session)
}

// doOnSession is conn.Do on the session of ctx, if onSession has set one. ErrSessionExpired is not
// retried then.
func doOnSession(ctx context.Context, conn *zkconn.Conn, op string, call *zkconn.Call) error {
	session, _ := ctx.Value(boundSession{}).(int64)
	err := conn.Do(ctx, session, call)
	if session != 0 && errors.Is(err, ErrSessionExpired) {
		return &OpError{Op: op, Attempts: 1, Err: err, final: true}
	}
	return err
}
