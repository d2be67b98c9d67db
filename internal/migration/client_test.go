package migration_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

func connect(ctx context.Context) (err error) {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithSessionTimeout(30*time.Second))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	return run(ctx, client)
}

func untilConnected(ctx context.Context, client *framework.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := client.BlockUntilConnected(ctx); err != nil {
		return err // it says why there is no connection
	}
	return nil
}

func namespace(ctx context.Context, client *framework.Client) error {
	team := client.UsingNamespace("team-a") // never closed
	_, err := team.Create().ForPath(ctx, "/config")
	return err
}

func listener(ctx context.Context, client *framework.Client) error {
	remove := client.ConnectionStateListenable().Add(func(ctx context.Context, s state.ConnectionState) {
		switch s {
		case state.Suspended:
			pause()
		case state.Lost:
			abandon()
		case state.Reconnected:
			resume()
		}
	})
	defer remove()

	return run(ctx, client)
}

func policies() []retry.Policy {
	return []retry.Policy{
		retry.ExponentialBackoff(time.Second, 3),
		retry.BoundedExponentialBackoff(100*time.Millisecond, 5*time.Second, 10),
		retry.NTimes(3, time.Second),
		retry.OneTime(time.Second),
		retry.Forever(time.Second),
		retry.UntilElapsed(time.Minute, time.Second),
		retry.None(), // Java has none
	}
}

func retried(ctx context.Context, policy retry.Policy) error {
	return retry.Do(ctx, policy, func(ctx context.Context) error {
		return call(ctx)
	})
}

func secured(ctx context.Context) error {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithAuthorization("digest", []byte("app:secret")),
		framework.WithACLProvider(private{}))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer client.Close(ctx)

	_, err = client.Create().WithACL(framework.CreatorAllACL()...).ForPath(ctx, "/private")
	return err
}

type private struct{}

func (private) ACLForPath(path string) []framework.ACL { return framework.CreatorAllACL() }

func traced(ctx context.Context) error {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithTracing(tracing.WithTracerProvider(provider)))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer client.Close(ctx)

	mutex, err := locks.NewInterProcessMutex(client, "/locks/traced")
	if err != nil {
		return err
	}
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return work(ctx, lease.Token())
	})
}
