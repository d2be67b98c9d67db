package suite

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test that only records how it fails.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Error(args ...any) { r.failed = "goes on: " + fmt.Sprint(args...) }

func (r *recorder) Fatal(args ...any) {
	r.failed = "ends: " + fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

// What is no failure is none for a good reason: a call that does not say what it wants, or wants a nil error of
// Fails, has found nothing out.
func TestWant(t *testing.T) {
	broken := errors.New("broken")
	wrapped := fmt.Errorf("wrapped: %w", broken)
	for name, c := range map[string]struct {
		want  func(t testing.TB)
		fails string
	}{
		"WantErr":                       {func(t testing.TB) { WantErr(t, wrapped, broken) }, ""},
		"WantErr, no error":             {func(t testing.TB) { WantErr(t, nil, nil) }, ""},
		"WantErr, error, none wanted":   {func(t testing.TB) { WantErr(t, broken, nil) }, "ends: error broken, want one that matches <nil>"},
		"WantErr, no error, wanted":     {func(t testing.TB) { WantErr(t, nil, broken) }, "ends: error <nil>, want one that matches broken"},
		"WantErr, one of two":           {func(t testing.TB) { WantErr(t, wrapped, broken, errors.ErrUnsupported) }, "ends: error wrapped: broken, want one that matches unsupported operation"},
		"WantErr, nothing said":         {func(t testing.TB) { WantErr(t, nil) }, "ends: error <nil>, and the test does not say which one it wants"},
		"CheckErr":                      {func(t testing.TB) { CheckErr(t, wrapped, broken) }, ""},
		"CheckErr, another":             {func(t testing.TB) { CheckErr(t, errors.ErrUnsupported, broken) }, "goes on: error unsupported operation, want one that matches broken"},
		"CheckErr, nothing said":        {func(t testing.TB) { CheckErr(t, broken) }, "goes on: error broken, and the test does not say which one it wants"},
		"Fails":                         {func(t testing.TB) { Got(1, wrapped).Fails(t, broken) }, ""},
		"Fails, success":                {func(t testing.TB) { Got(1, nil).Fails(t, broken) }, "ends: no error, want one that matches [broken]"},
		"Fails, success, no error said": {func(t testing.TB) { Got(1, nil).Fails(t, nil) }, "ends: no error, want one that matches [<nil>]"},
		"Fails, nothing said":           {func(t testing.TB) { Got(1, broken).Fails(t) }, "ends: error broken, and the test does not say which one it wants"},
		"OK":                            {func(t testing.TB) { OK(t, nil) }, ""},
		"OK, error":                     {func(t testing.TB) { OK(t, broken) }, "ends: broken"},
		"Check":                         {func(t testing.TB) { Check(t, nil) }, ""},
		"Check, error":                  {func(t testing.TB) { Check(t, broken) }, "goes on: broken"},
	} {
		r := &recorder{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.want(r)
		}()
		if <-done; r.failed != c.fails {
			t.Errorf("%s: %q, want %q", name, r.failed, c.fails)
		}
	}
}
