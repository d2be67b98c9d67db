package locks_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// journal is a log that can be read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// TestWaitForOneself passes an outer context down: the log names both places, once.
func TestWaitForOneself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		mutex, err := locks.NewInterProcessMutex(client, "/lock")
		if err != nil {
			t.Fatal(err)
		}
		outer, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = locks.Do(outer, mutex, func(context.Context, *locks.Lease) error {
			_, err := mutex.Acquire(outer)
			wantErr(t, err, locks.ErrNotAcquired)
			return nil
		})
		synctest.Wait()
		lines := strings.Count(log.String(), "lock waits for a lease of this client")
		if lines != 1 || strings.Count(log.String(), "site_test.go:") != 2 {
			t.Errorf("%d lines:\n%s", lines, &log)
		}
	})
}
