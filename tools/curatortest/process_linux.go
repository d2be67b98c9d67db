package curatortest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// awaitSuspended waits until every thread of a process has stopped. The signal that says
// so returns before, and a thread that still runs could answer one more request.
func awaitSuspended(pid int) error {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(stopTimeout); time.Now().Before(end); <-ticker.C {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			return err
		}
		if allSuspended(threads) {
			return nil
		}
	}
	return fmt.Errorf("process %d still runs after %v", pid, stopTimeout)
}

// allSuspended tells whether the threads whose stat files are given have stopped. One that
// has no file any more has ended.
func allSuspended(threads []string) bool {
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			continue
		}
		// The state stands behind the name, which is in brackets and can have some itself.
		state := stat[bytes.LastIndexByte(stat, ')')+1:]
		if !bytes.HasPrefix(state, []byte(" T")) {
			return false
		}
	}
	return true
}
