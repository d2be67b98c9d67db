package droppedlease

import (
	"errors"
	"testing"

	"github.com/go-curator/curator/recipes/locks"
)

// Test files are not checked: a test that expects an error gets no lease.
func TestRefused(t *testing.T) {
	var none *locks.InterProcessMutex
	if _, err := none.TryAcquire(t.Context()); errors.Is(err, locks.ErrNotAcquired) {
		t.Error(err)
	}
}
