package curatortest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// awaitSuspended waits until all threads of a process have stopped. The call that sends the signal
// returns before that, and a thread that still runs could answer one more request.
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

// allSuspended reports whether the threads with the given stat files have stopped. A thread whose
// file does not exist any more has ended.
func allSuspended(threads []string) bool {
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			continue
		}
		// The state follows the name, which is in parentheses and may contain parentheses.
		state := stat[bytes.LastIndexByte(stat, ')')+1:]
		if !bytes.HasPrefix(state, []byte(" T")) {
			return false
		}
	}
	return true
}
