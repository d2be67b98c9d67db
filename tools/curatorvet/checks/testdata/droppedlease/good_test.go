package droppedlease

import (
	"errors"
	"testing"

	"github.com/go-curator/curator/recipes/locks"
)

// Test files are left alone: a test that expects a refusal has no lease to keep.
func TestRefused(t *testing.T) {
	var none *locks.InterProcessMutex
	if _, err := none.TryAcquire(t.Context()); errors.Is(err, locks.ErrNotAcquired) {
		t.Error(err)
	}
}
