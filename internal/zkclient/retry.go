package zkclient

import (
	"context"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// RetryForever calls try until it succeeds, or fails with an error that again does not accept. Between two
// tries there is a pause, and then the wait for a connection, however long that takes. The client's retry
// policy is not asked. The error is that of the last try, or why there is no other: ctx's, zkconn.ErrClosed or
// zkconn.ErrAuthFailed.
//
// It is not for loops that an event wakes, nor for those that end with their session: without a connection they
// must learn that it is over.
func RetryForever(ctx context.Context, conn *zkconn.Conn, pace wait.Pace, again func(error) bool, try func(ctx context.Context) error) error {
	for {
		err := try(ctx)
		if err == nil || !again(err) {
			return err
		}
		if err = wait.For(ctx, pace.Next()); err == nil {
			err = conn.Ready(ctx)
		}
		if err != nil {
			return err
		}
	}
}
