package lockqueue

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/layout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSequence(t *testing.T) {
	for name, want := range map[string]bool{
		"lock-0000000042": true, "lock-2146483647": true, "lock-2146483648": false, "lock--2147483648": false, "lock--2146483647": false, "lock--1000000000": false, "lock-": false,
	} {
		if n, ok := sequence(name, layout.LockMark); ok != want || ok && (n < 0 || n > 2147483647-reserve) {
			t.Errorf("%q has the number %d, %t", name, n, ok)
		}
	}
}
