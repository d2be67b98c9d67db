package suite

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
)

// panics is a user's retry policy that panics.
type panics struct{}

func (panics) Next(int, time.Duration, error) (time.Duration, bool) { panic("boom") }

// PanickingClient returns a started client on a network, whose retry policy panics with "boom". It is
// closed at the end of the test.
func (b *Backend) PanickingClient(t *testing.T, n *Network, opts ...framework.Option) *framework.Client {
	t.Helper()
	opts = append([]framework.Option{
		framework.WithDialer(n.Dial), framework.WithoutEnsembleTracker(), framework.WithSessionTimeout(SessionTimeout),
		framework.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)
	client, err := framework.NewClient(b.ConnectString(), panics{}, opts...)
	if err == nil {
		err = client.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return client
}

// WantPanic calls fn, which must panic as the policy of a PanickingClient does.
func WantPanic(t *testing.T, fn func()) {
	t.Helper()
	defer func() {
		if p := recover(); p != "boom" {
			t.Errorf("the panic is %v", p)
		}
	}()
	fn()
}
