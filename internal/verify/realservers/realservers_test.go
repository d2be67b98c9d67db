package realservers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { suite.Main(m) }

// A client has the session timeout that was asked for, or there is none.
func TestClient(t *testing.T) {
	t.Parallel()
	server := curatortest.Start(t)
	client, err := realservers.Client(t.Context(), server.ConnectString(), 10*time.Second, retry.OneTime(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if client.SessionTimeout() != 10*time.Second || server.Sessions() != 1 {
		t.Errorf("a session timeout of %v, %d sessions", client.SessionTimeout(), server.Sessions())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	realservers.Close(ended, client)
	if _, err := realservers.Client(t.Context(), server.ConnectString(), 10*time.Hour, retry.OneTime(time.Millisecond)); err == nil || !strings.Contains(err.Error(), "not 10h") {
		t.Errorf("a timeout that servers do not grant: %v", err)
	}
	if n := server.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	server := curatortest.Start(t)
	if answer, err := realservers.Ask(t.Context(), server.ConnectString(), "ruok"); string(answer) != "imok" || err != nil {
		t.Errorf("%q, %v", answer, err)
	}
}

// The first error ends the others, and is returned when they have ended.
func TestEach(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	ended := make([]bool, 3)
	err := realservers.Each(t.Context(), -1, []string{"a", "b", "c"}, func(ctx context.Context, i int, item string) error {
		if item == "b" {
			return broken
		}
		<-ctx.Done()
		ended[i] = context.Cause(ctx) == broken
		return ctx.Err()
	})
	if err != broken || !ended[0] || ended[1] || !ended[2] {
		t.Errorf("%v, ended %v", err, ended)
	}
}
