package suite

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

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

// WantErr fails the test unless err matches all of wants.
func WantErr(t *testing.T, err error, wants ...error) {
	t.Helper()
	for _, want := range wants {
		if !errors.Is(err, want) {
			t.Fatalf("error %v, want one that matches %v", err, want)
		}
	}
}
