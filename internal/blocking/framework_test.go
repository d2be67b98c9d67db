package blocking_test

import (
	"context"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
)

func frameworkRows() map[string]row {
	return map[string]row{
		"framework: (*Client) AddAuth": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return f.client.AddAuth(ctx, "digest", []byte("a:b")) }
		}),
		"framework: (*Client) ReadMany": asks(func(f *fixture) call {
			return func(ctx context.Context) (err error) {
				for _, read := range f.client.ReadMany(ctx, slices.Values([]string{f.path})) {
					err = read.Err
				}
				return err
			}
		}),
		"framework: (*Client) BlockUntilConnected": asks(func(f *fixture) call {
			return func(ctx context.Context) error {
				<-time.After(suite.SessionTimeout) // until the client has noticed that its server is silent
				return f.client.BlockUntilConnected(ctx)
			}
		}),
		"framework: (WatcherRemovingView) RemoveWatchers": asks(func(f *fixture) call {
			view := f.client.WatcherRemovingView()
			f.must(view.GetData().UsingWatcher(framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})).ForPath(f.Context(), f.path))
			return func(ctx context.Context) error {
				if err := view.RemoveWatchers(ctx); err != nil || f.client.State() != framework.Stopped {
					return err
				}
				return errEnded // the watches have ended with the client
			}
		}),
		"framework: (AddWatchBuilder) ForPath": asks(func(f *fixture) call {
			w := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
			return func(ctx context.Context) error { return f.client.Watches().Add().ForPath(ctx, f.path, w) }
		}),
		"framework: (RemoveWatchBuilder) ForPath": asks(func(f *fixture) call {
			w := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
			f.ok(f.client.Watches().Add().ForPath(f.Context(), f.path, w))
			return func(ctx context.Context) error { return f.client.Watches().Remove().ForPath(ctx, f.path, w) }
		}),
		"framework/paths: DeleteChildren": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return paths.DeleteChildren(ctx, f.client, f.path, false) }
		}),
		"framework/paths: Mkdirs": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return paths.Mkdirs(ctx, f.client, f.path+"/x") }
		}),
		"framework/paths: SortedChildren": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(paths.SortedChildren(ctx, f.client, f.path)) }
		}),
		"framework/paths: (*EnsureContainers) Ensure": asks(func(f *fixture) call {
			e, err := paths.NewEnsureContainers(f.client, f.path+"/x")
			return made(f, e, err).Ensure
		}),
	}
}

func builderRows() map[string]row {
	return map[string]row{
		"framework: (BatchBuilder) ForOperations": asks(func(f *fixture) call {
			op := f.client.TransactionOp().Create().ForPath(f.path + "/x")
			return func(ctx context.Context) error { return value(f.client.Batch().ForOperations(ctx, op)) }
		}),
		"framework: (TransactionBuilder) ForOperations": asks(func(f *fixture) call {
			op := f.client.TransactionOp().Check().ForPath(f.path)
			return func(ctx context.Context) error { return value(f.client.Transaction().ForOperations(ctx, op)) }
		}),
		"framework: (CheckExistsBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.CheckExists().ForPath(ctx, f.path)) }
		}),
		"framework: (CreateBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.Create().ForPath(ctx, f.path+"/x")) }
		}),
		"framework: (DeleteBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return f.client.Delete().ForPath(ctx, f.path) }
		}),
		"framework: (GetACLBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetACL().ForPath(ctx, f.path)) }
		}),
		"framework: (GetChildrenBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetChildren().ForPath(ctx, f.path)) }
		}),
		"framework: (GetConfigBuilder) ForEnsemble": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetConfig().ForEnsemble(ctx)) }
		}),
		"framework: (GetDataBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.GetData().ForPath(ctx, f.path)) }
		}),
		"framework: (ReconfigBuilder) ForEnsemble": asks(func(f *fixture) call {
			return func(ctx context.Context) error {
				return value(f.client.Reconfig().Leaving("9").ForEnsemble(ctx))
			}
		}),
		"framework: (SetACLBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error {
				return value(f.client.SetACL().ForPath(ctx, f.path, framework.OpenACLUnsafe()))
			}
		}),
		"framework: (SetDataBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(f.client.SetData().ForPath(ctx, f.path, nil)) }
		}),
		"framework: (SyncBuilder) ForPath": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return f.client.Sync().ForPath(ctx, f.path) }
		}),
	}
}
