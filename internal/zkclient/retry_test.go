package zkclient_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errPassing, errFinal = errors.New("passing"), errors.New("final")

// attempts is a function that fails some times.
type attempts struct {
	fails int
	last  error // of the try behind those
	at    []time.Time
}

func (a *attempts) try(context.Context) error {
	a.at = append(a.at, time.Now())
	if len(a.at) <= a.fails {
		return errPassing
	}
	return a.last
}

func isPassing(err error) bool { return errors.Is(err, errPassing) }

// retrying runs a test with a server, and the connection of a client of it.
func retrying(t *testing.T, fn func(t *testing.T, server *curatortest.Server, client *framework.Client, conn *zkconn.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		conn, err := zkclient.Of(client).Conn()
		if err != nil {
			t.Fatal(err)
		}
		fn(t, server, client, conn)
	})
}

// The tries go on until one succeeds, or fails for good. Between two of them there is a pause.
func TestRetryForever(t *testing.T) {
	pace := wait.Pace{First: time.Second, Most: time.Minute}
	for name, a := range map[string]attempts{
		"at once": {}, "the third time": {fails: 2}, "the hundredth time": {fails: 99}, "for good": {fails: 1, last: errFinal},
	} {
		t.Run(name, func(t *testing.T) {
			retrying(t, func(t *testing.T, _ *curatortest.Server, _ *framework.Client, conn *zkconn.Conn) {
				if err := zkclient.RetryForever(t.Context(), conn, pace, isPassing, a.try); !errors.Is(err, a.last) || len(a.at) != a.fails+1 {
					t.Errorf("%v after %d tries, want %v after %d", err, len(a.at), a.last, a.fails+1)
				}
				for i := 1; i < len(a.at); i++ {
					if pause := a.at[i].Sub(a.at[i-1]); pause < time.Second/2 || pause > 3*time.Minute/2 {
						t.Errorf("pause %d is %v", i, pause)
					}
				}
			})
		})
	}
}

// Without a connection there is no other try.
func TestRetryForeverAwaitsConnection(t *testing.T) {
	retrying(t, func(t *testing.T, server *curatortest.Server, _ *framework.Client, conn *zkconn.Conn) {
		accept := server.Refuse()
		server.Disconnect()
		synctest.Wait()
		a, done := attempts{fails: 1}, make(chan error, 1)
		go func() {
			done <- zkclient.RetryForever(t.Context(), conn, wait.Pace{First: time.Second, Most: time.Second}, isPassing, a.try)
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(a.at) != 1 {
			t.Errorf("%d tries without a connection", len(a.at))
		}
		accept()
		if err := <-done; err != nil || len(a.at) != 2 {
			t.Errorf("%v after %d tries", err, len(a.at))
		}
	})
}

// The end of the context, and that of the client, end the pause and the wait for a connection.
func TestRetryForeverEnds(t *testing.T) {
	pausing, waiting := wait.Pace{First: time.Hour, Most: time.Hour}, wait.Pace{First: time.Millisecond, Most: time.Millisecond}
	for name, tt := range map[string]struct {
		pace   wait.Pace
		closes bool
		want   error
	}{
		"pause, context":           {pausing, false, context.Canceled},
		"wait, context":            {waiting, false, context.Canceled},
		"wait, close":              {waiting, true, framework.ErrClosed},
		"pause, close, then tries": {wait.Pace{First: time.Minute, Most: time.Minute}, true, framework.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			retrying(t, func(t *testing.T, server *curatortest.Server, client *framework.Client, conn *zkconn.Conn) {
				server.Refuse()
				server.Disconnect()
				synctest.Wait()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				a := attempts{fails: 1 << 30}
				go func() { done <- zkclient.RetryForever(ctx, conn, tt.pace, isPassing, a.try) }()
				time.Sleep(10 * time.Second)
				if tt.closes {
					_ = client.Close(t.Context()) // what has become of its session is not the point
				} else {
					cancel()
				}
				if err := <-done; !errors.Is(err, tt.want) || len(a.at) != 1 {
					t.Errorf("%v after %d tries, want %v after one", err, len(a.at), tt.want)
				}
			})
		})
	}
}
