package realservers_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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

// The first error ends the others, and is returned when they have ended. Without a limit all items are begun.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, most := range []int{-1, 0, 3} {
		synctest.Test(t, func(t *testing.T) {
			broken := errors.New("broken")
			ended := make([]bool, 3)
			err := realservers.Each(t.Context(), most, []string{"a", "b", "c"}, func(ctx context.Context, i int, item string) error {
				if item == "b" {
					return broken
				}
				<-ctx.Done()
				ended[i] = context.Cause(ctx) == broken
				return ctx.Err()
			})
			if err != broken || !ended[0] || ended[1] || !ended[2] {
				t.Errorf("at most %d: %v, ended %v", most, err, ended)
			}
		})
	}
}

// No more items than the limit are worked on at the same time.
func TestEachLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		count := func(by int) {
			mu.Lock()
			defer mu.Unlock()
			now += by
			most = max(most, now)
		}
		err := realservers.Each(t.Context(), 2, make([]int, 5), func(context.Context, int, int) error {
			count(1)
			time.Sleep(time.Second)
			count(-1)
			return nil
		})
		if err != nil || most != 2 {
			t.Errorf("%v, %d at the same time", err, most)
		}
	})
}
