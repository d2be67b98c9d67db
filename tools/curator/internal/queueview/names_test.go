package queueview

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"queue-0000000001": "plain", "queue-1000000050000000001": "priority", "queue-0FFFFFFFF0000000003": "priority",
		"queue-|19A00000000|0000000002": "delay", "queue-|job 7|0000000000": "id", "queue-|19a00000000|0000000002": "id",
		"queue-||0000000000": "id", "qn-0000000001": "simple", "queue-x": "", "queue-": "", "queue-00000001": "", "lock-0000000001": "",
	} {
		got := ""
		if isItem(name) {
			got = kindOf(name)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if at, ok := due("queue-|19A00000000|0000000002"); !ok || !at.Equal(time.UnixMilli(0x19A00000000)) {
		t.Errorf("due %v, %t", at, ok)
	}
	if n, ok := priority("queue-0FFFFFFFF0000000003"); !ok || n != -1 {
		t.Errorf("priority %d, %t", n, ok)
	}
}
