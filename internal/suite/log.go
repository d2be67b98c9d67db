package suite

import (
	"bytes"
	"log/slog"
	"sync"
)

// Log keeps what is written to it, by the handler of a logger or by a process. It is safe for concurrent
// use.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps p.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns what was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Warnings returns a logger that writes warnings and errors, as text.
func (l *Log) Warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
