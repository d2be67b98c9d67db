package framework_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// With WithFailFast an attempt ends when all servers have been tried in vain, and the retry policy decides; without it, after
// the connection timeout.
func TestFailFast(t *testing.T) {
	for _, fast := range []bool{false, true} {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			opts := []framework.Option{framework.WithConnectionTimeout(10 * time.Second)}
			if fast {
				opts = append(opts, framework.WithFailFast())
			}
			b.Server().Refuse()
			client := refusedClient(t, b, opts...)
			began := time.Now()
			_, err := client.GetData().ForPath(t.Context(), "/")
			took := time.Since(began)
			if !errors.Is(err, framework.ErrConnectionLoss) || fast != (took < 10*time.Second) {
				t.Errorf("fast %t: %v after %v", fast, err, took)
			}
		})
	}
}

func refusedClient(t *testing.T, b *suite.Backend, opts ...framework.Option) *framework.Client {
	t.Helper()
	opts = append(opts, framework.WithDialer(b.Server().DialContext))
	client, err := framework.NewClient(b.ConnectString(), retry.NTimes(1, time.Millisecond), opts...)
	if err == nil {
		err = client.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(t.Context()) }) // there is no server to be told
	return client
}
