package migration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// The programs of docs/from-go-zookeeper.md that are ported in part: both APIs, and one session.

func sameSession(ctx context.Context) error {
	conn, _, err := zk.Connect(strings.Split(connectString, ","), 10*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()

	mutex, err := locks.NewInterProcessMutex(conn.Client(), "/locks/orders")
	if err != nil {
		return err
	}
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return runOn(ctx, conn)
	})
}

func ownClient(ctx context.Context) (err error) {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithSessionTimeout(10*time.Second))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	conn, events, err := zk.NewConn(client)
	if err != nil {
		return err
	}
	defer conn.Close()
	go logStates(events)

	return runOn(ctx, conn)
}

func logStates(events <-chan zk.Event) {
	for event := range events {
		if event.State == zk.StateHasSession {
			called <- event.State.String()
		}
	}
}

// sharedTopics are the parts of the document that use both APIs.
var sharedTopics = []topic{
	{"same session", []string{"/config"}, func(ctx context.Context, _ *framework.Client) error {
		runOn = func(ctx context.Context, conn *zk.Conn) error {
			if conn.SessionID() != conn.Client().SessionID() {
				return fmt.Errorf("sessions %x and %x", conn.SessionID(), conn.Client().SessionID())
			}
			data, _, err := conn.Get("/config")
			use(data)
			return err
		}
		return sameSession(ctx)
	}, wantCalls("use old")},
	{"own client", nil, func(ctx context.Context, _ *framework.Client) error {
		runOn = func(ctx context.Context, conn *zk.Conn) error {
			if _, err := conn.Create("/config", data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
				return err
			}
			return await(ctx, "StateHasSession")
		}
		return ownClient(ctx)
	}, wantNone("/config")},
}

func TestSharedTopics(t *testing.T) { runTopics(t, sharedTopics) }

// Errors of package framework match those that a program compared before its port.
func TestErrorsOfBoth(t *testing.T) {
	e := newEnv(t)
	_, err := e.client.GetData().ForPath(t.Context(), "/nothing")
	if !errors.Is(err, zk.ErrNoNode) || !errors.Is(err, framework.ErrNoNode) {
		t.Errorf("no node: %v", err)
	}
	for ours, theirs := range map[error]error{
		framework.ErrNodeExists: zk.ErrNodeExists, framework.ErrNotEmpty: zk.ErrNotEmpty,
		framework.ErrBadVersion: zk.ErrBadVersion, framework.ErrNoChildrenForEphemerals: zk.ErrNoChildrenForEphemerals,
		framework.ErrNoAuth: zk.ErrNoAuth, framework.ErrAuthFailed: zk.ErrAuthFailed, framework.ErrInvalidACL: zk.ErrInvalidACL,
		framework.ErrSessionExpired: zk.ErrSessionExpired, framework.ErrSessionMoved: zk.ErrSessionMoved,
		framework.ErrConnectionLoss: zk.ErrConnectionClosed,
	} {
		if !errors.Is(ours, theirs) {
			t.Errorf("%v does not match %v", ours, theirs)
		}
	}
}
