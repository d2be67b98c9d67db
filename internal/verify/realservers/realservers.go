// Package realservers has what the proofs on real servers do alike: clients whose session timeout is known,
// questions to servers, and work on many clients at the same time. Package curatortest starts the servers
// and breaks the links.
package realservers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// Client starts a client that logs nothing, and waits for its session. It is an error if the servers grant
// another session timeout, because what is measured would be of another client.
func Client(ctx context.Context, servers string, timeout time.Duration, policy retry.Policy, opts ...framework.Option) (*framework.Client, error) {
	client, err := framework.NewClient(servers, policy, append([]framework.Option{
		framework.WithoutEnsembleTracker(),
		framework.WithoutTracing(),
		framework.WithLogger(slog.New(slog.DiscardHandler)),
		framework.WithSessionTimeout(timeout),
	}, opts...)...)
	if err != nil {
		return nil, err
	}
	if err = client.Start(ctx); err == nil {
		err = client.BlockUntilConnected(ctx)
	}
	if granted := client.SessionTimeout(); err == nil && granted != timeout {
		err = fmt.Errorf("the servers grant a session timeout of %v, not %v", granted, timeout)
	}
	if err != nil {
		Close(ctx, client)
		return nil, err
	}
	return client, nil
}

// CloseTimeout bounds the Close of a client.
const CloseTimeout = 10 * time.Second

// Close closes a client, also if ctx has ended. It is no failure if the session cannot be closed: after
// faults many sessions have expired.
func Close(ctx context.Context, client *framework.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CloseTimeout)
	defer cancel()
	_ = client.Close(ctx)
}

// Ask sends a server a four-letter word, and returns the answer.
func Ask(ctx context.Context, address, word string) (answer []byte, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, word); err != nil {
		return nil, err
	}
	return io.ReadAll(conn)
}

// Whole tells whether one of the members of an ensemble leads, and all others follow it.
func Whole(members []*curatortest.Member) bool {
	leaders := 0
	for _, m := range members {
		switch m.Mode() {
		case "leader":
			leaders++
		case "follower":
		default:
			return false
		}
	}
	return leaders == 1
}

// Each calls do for all items, at most so many of them at the same time, and waits for all calls. If most is
// 0 or less there is no limit. It returns the first error, after which the ctx of the other calls ends.
func Each[T any](ctx context.Context, most int, items []T, do func(ctx context.Context, i int, item T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	if most > 0 {
		group.SetLimit(most)
	}
	for i, item := range items {
		group.Go(func() error { return do(ctx, i, item) })
	}
	return group.Wait()
}
