package view

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/layout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func queueOf(names ...string) (q Queue) {
	var items []layout.Item
	for _, name := range names {
		if it, ok := layout.ParseItem(name); ok {
			items = append(items, it)
		}
	}
	q.classify(items, time.UnixMilli(0x19A00000000))
	return q
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"queue-0000000001": "plain", "queue-1000000050000000001": "priority", "queue-0FFFFFFFF0000000003": "priority",
		"queue-|19A00000000|0000000002": "delay", "queue-|job 7|0000000000": "id", "queue-|19a00000000|0000000002": "id",
		"queue-||0000000000": "id", "qn-0000000001": "simple", "queue-x": "", "queue-": "", "queue-00000001": "", "lock-0000000001": "",
	} {
		if got := queueOf(name).Kind; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	q := queueOf("queue-|19A00000002|0000000001", "queue-|19A00000000|0000000002", "queue-|19A00000001|0000000003")
	if q.Kind != "delay" || q.Delayed != 2 || !q.NextDue.Equal(time.UnixMilli(0x19A00000001)) {
		t.Errorf("%+v", q)
	}
	q = queueOf("queue-1000000050000000001", "queue-0FFFFFFFF0000000003", "queue-0000000004", "queue-1000000050000000005")
	if q.Kind != mixed || len(q.Priorities) != 2 || q.Priorities[0] != (Priority{-1, 1}) || q.Priorities[1] != (Priority{5, 2}) {
		t.Errorf("%+v", q)
	}
}
