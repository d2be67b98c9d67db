package history_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What was written is read, but for a last line that was cut off.
func TestLog(t *testing.T) {
	var file bytes.Buffer
	log := history.NewLog(&file)
	want := []history.Event{
		{At: 1, Process: "go-0.1", Kind: history.Grant, Op: 3, Lock: "/lock", Mode: history.Exclusive, Token: 1 << 62, Session: -5, Text: "a \"b\"\n"},
		{At: 2, Kind: history.Fault},
	}
	for _, e := range want {
		log.Add(e)
	}
	log.Add(history.Event{Kind: history.Quiet})
	if err := log.Err(); err != nil {
		t.Fatal(err)
	}
	var got []history.Event
	cut := file.String() + `{"t":4,"e":"hel`
	if err := history.Read(strings.NewReader(cut), func(e history.Event) { got = append(got, e) }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || !slices.Equal(got[:2], want) || got[2].At == 0 {
		t.Errorf("read %v, want %v and an event with the time of now", got, want)
	}
	if err := history.Read(strings.NewReader("no event\n"), func(history.Event) {}); err == nil {
		t.Error("a line that is no event: no error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestLogFails(t *testing.T) {
	log := history.NewLog(broken{})
	log.Add(history.Event{})
	log.Add(history.Event{})
	if log.Err() == nil {
		t.Error("no error")
	}
}

// The clock goes on.
func TestNow(t *testing.T) {
	if a, b := history.Now(), history.Now(); a <= 0 || b < a {
		t.Errorf("%d, then %d", a, b)
	}
}
