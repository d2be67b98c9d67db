package lockqueue

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSequence(t *testing.T) {
	for name, want := range map[string]bool{
		"lock-0000000042": true, "lock-2146483647": true, "lock-2146483648": false, "lock--2147483648": false, "lock-": false,
	} {
		if n, ok := sequence(name); ok != want || ok && (n < 0 || n > 2147483647-reserve) {
			t.Errorf("%q has the number %d, %t", name, n, ok)
		}
	}
}
