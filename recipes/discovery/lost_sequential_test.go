package discovery_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/retry"
)

// A Start behind a lost create, whose node may have any number, does not wait for a connection for ever: it fails as
// any other when the retry policy gives up.
func TestStartBehindALostSequentialCreate(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b)
		client, err := framework.NewClient(b.ConnectString(), retry.None(), framework.WithDialer(f.network.Dial),
			framework.WithoutEnsembleTracker(), framework.WithConnectionTimeout(100*time.Millisecond))
		suite.OK(f.t, err)
		suite.OK(f.t, client.Start(t.Context()))
		defer func() { _ = client.Close(context.WithoutCancel(t.Context())) }() // its session may be over
		suite.OK(f.t, client.BlockUntilConnected(t.Context()))
		f.registry = f.newRegistry(client)
		f.service()
		i := of("a", "x")
		i.Type = discovery.DynamicSequential
		f.register(i)
		ctx, cancel := context.WithCancel(t.Context())
		heal := func() {}
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, func() { heal = f.network.Isolate(); cancel() })
		err = f.registry.Start(ctx)
		if <-hit; !framework.MaybeApplied(err) {
			t.Fatalf("error %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- f.registry.Start(t.Context()) }()
		select {
		case err := <-done:
			suite.WantErr(t, err, framework.ErrConnectionLoss)
			heal()
		case <-time.After(10 * time.Minute):
			t.Error("Start waits for ten minutes")
			heal()
			<-done
		}
	})
}

// The zero value and nil refuse a provider, whatever its configuration is.
func TestProviderOfNothing(t *testing.T) {
	for _, d := range []*discovery.ServiceDiscovery[string]{nil, {}} {
		suite.Got(d.Provider("x", discovery.ProviderConfig[string]{DownTime: -1})).Fails(t, framework.ErrNotStarted)
	}
}
