package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// Eventually waits until ok, or fails the test with what was waited for. It asks less often the longer
// it waits, because most questions are requests to a server.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); {
		waited := time.Since(begin)
		if waited > time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
		<-time.After(max(2*time.Millisecond, waited/8))
	}
}

// WantText fails the test unless a value has the same text, of one line, with every verb that logs
// and failed tests print it with, alone and in a slice.
func WantText(t *testing.T, value fmt.Stringer, want string) {
	t.Helper()
	got := fmt.Sprintf("%v|%+v|%s|%v", value, value, value, []any{value})
	if got != strings.Join([]string{want, want, want, "[" + want + "]"}, "|") {
		t.Errorf("%T %#[1]v is %q, want %q", value, got, want)
	}
	if strings.Contains(want, "\n") {
		t.Errorf("%T: %q has several lines", value, want)
	}
}

// WantLogged fails the test unless a log in JSON has want for a value.
func WantLogged(t *testing.T, value any, want string) {
	t.Helper()
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("", "value", value)
	if want := `"value":` + want + "}\n"; !strings.HasSuffix(log.String(), want) {
		t.Errorf("%T: %s, want %s", value, log.String(), want)
	}
}

// WantErr fails the test at once unless err matches all of wants, of which there must be one. A nil alone
// stands for no error, for tables of cases. It is for the test's goroutine; see CheckErr for others.
func WantErr(t testing.TB, err error, wants ...error) {
	t.Helper()
	if wrong := mismatch(err, wants); wrong != "" {
		t.Fatal(wrong)
	}
}

// CheckErr is WantErr for every goroutine, such as that of a callback: the test goes on.
func CheckErr(t testing.TB, err error, wants ...error) {
	t.Helper()
	if wrong := mismatch(err, wants); wrong != "" {
		t.Error(wrong)
	}
}

// mismatch says how an error is not one that matches all of wants, and is empty if it is.
func mismatch(err error, wants []error) string {
	if len(wants) == 0 {
		return fmt.Sprintf("error %v, and the test does not say which one it wants", err)
	}
	for _, want := range wants {
		if !errors.Is(err, want) {
			return fmt.Sprintf("error %v, want one that matches %v", err, want)
		}
	}
	return ""
}

// Result is what a call has returned.
type Result[T any] struct {
	value T
	err   error
}

// Got takes what a call returns, as in Got(lock.Acquire(ctx)).OK(t).
func Got[T any](value T, err error) Result[T] { return Result[T]{value, err} }

// OK returns the value. An error fails the test at once. It is for the test's goroutine.
func (r Result[T]) OK(t testing.TB) T {
	t.Helper()
	OK(t, r.err)
	return r.value
}

// Fails fails the test at once unless there is an error that matches all of wants, of which there must be one.
// It is for the test's goroutine.
func (r Result[T]) Fails(t testing.TB, wants ...error) {
	t.Helper()
	if r.err == nil {
		t.Fatalf("no error, want one that matches %v", wants)
	}
	WantErr(t, r.err, wants...)
}

// OK fails the test at once if there is an error. It is for the test's goroutine; see Check for others.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Check is OK for every goroutine, such as that of a callback: the test goes on.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

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

// StartClose closes a client while something else goes on, for which Close waits. It returns when the client
// refuses calls. The end of the test waits for Close before it closes the clients.
func StartClose(t *testing.T, client *framework.Client) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = client.Close(context.WithoutCancel(t.Context())) // its error depends on the fault that it meets
	}()
	t.Cleanup(func() { <-done })
	Eventually(t, "a client that is being closed", func() bool {
		_, err := client.CheckExists().ForPath(t.Context(), "/")
		return errors.Is(err, framework.ErrClosed)
	})
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

// Watches returns how many watches a client has.
func Watches(t *testing.T, client *framework.Client) int {
	t.Helper()
	conn, err := zkclient.Of(client).Conn()
	if err != nil {
		t.Fatal(err)
	}
	return conn.Watches()
}

// AwaitWatches waits until a client has n watches and the server has answered the requests that set
// them: answers come in the order of the requests.
func AwaitWatches(t *testing.T, client *framework.Client, n int) {
	t.Helper()
	Eventually(t, "the watches of a client", func() bool { return Watches(t, client) == n })
	Answered(t, client)
}

// Answered waits until the server has answered what a client has sent.
func Answered(t *testing.T, client *framework.Client) {
	t.Helper()
	if _, err := client.GetACL().ForPath(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
}
