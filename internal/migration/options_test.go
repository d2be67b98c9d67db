package migration_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

func options() (*framework.Client, error) {
	return framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithConnectionTimeout(5*time.Second),
		framework.WithErrorPolicy(state.SessionErrorPolicy()),
		framework.WithCompressionProvider(framework.GzipCompressionProvider()),
		framework.WithNamespace("shop"))
}

func compressed(ctx context.Context, client *framework.Client) error {
	if _, err := client.Create().Compressed().WithData(data).ForPath(ctx, "/page"); err != nil {
		return err
	}
	text, err := client.GetData().Decompressed().ForPath(ctx, "/page")
	if err != nil {
		return err
	}
	use(text)
	return nil
}

// file is an ensemble provider that reads the servers from a file.
type file struct{ name string }

func (f file) Start(context.Context) error { return nil }
func (f file) ConnectString() string       { return servers(f.name) }
func (f file) Close(context.Context) error { return nil }

func provided() (*framework.Client, error) {
	return framework.NewClient("", retry.ExponentialBackoff(time.Second, 3),
		framework.WithEnsembleProvider(file{"servers.txt"}))
}

func servers(string) string { return connectString }

func outcomes(ctx context.Context, client *framework.Client) error {
	remove := client.CuratorListenable().Add(func(ctx context.Context, event framework.Event) {
		switch {
		case event.Op == "getData" && event.Err == nil:
			use(event.Data)
		case event.Op == "watched":
			reload(ctx, event.Watched.Path)
		}
	})
	defer remove()

	if err := client.GetData().Watched().InBackground(ctx, "/config", nil); err != nil {
		return err
	}
	return run(ctx, client)
}

// optionTopics are the parts of the document about the options of a client.
var optionTopics = []topic{
	{"options", nil, func(ctx context.Context, client *framework.Client) error {
		return started(ctx, options, func(ours *framework.Client) error {
			if ours.Namespace() != "shop" || ours.ErrorPolicy().IsErrorState(state.Suspended) {
				return fmt.Errorf("namespace %q, policy %v", ours.Namespace(), ours.ErrorPolicy())
			}
			return compressed(ctx, ours)
		})
	}, wantCalls("use data")},
	{"provided", nil, func(ctx context.Context, client *framework.Client) error {
		return started(ctx, provided, func(ours *framework.Client) error { return ours.BlockUntilConnected(ctx) })
	}, nil},
	{"outcomes", []string{"/config"}, func(ctx context.Context, client *framework.Client) error {
		run = func(ctx context.Context, client *framework.Client) error {
			if err := await(ctx, "use old"); err != nil {
				return err
			}
			if err := setData("/config")(ctx, client); err != nil {
				return err
			}
			return await(ctx, "reload /config")
		}
		return outcomes(ctx, client)
	}, nil},
}

// started calls fn with a client that it starts, and closes.
func started(ctx context.Context, newClient func() (*framework.Client, error), fn func(*framework.Client) error) (err error) {
	client, err := newClient()
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	return fn(client)
}
