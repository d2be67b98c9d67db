package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// serverLog writes the embedded server's warnings to notes.
type serverLog struct {
	notes *notes
	attrs []slog.Attr
}

var _ slog.Handler = serverLog{}

// Enabled reports whether a record is a warning or an error.
func (serverLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle writes a record as one note.
func (l serverLog) Handle(_ context.Context, r slog.Record) error {
	text := strings.Builder{}
	write := func(a slog.Attr) bool {
		fmt.Fprintf(&text, "; %s: %v", a.Key, a.Value)
		return true
	}
	for _, a := range l.attrs {
		write(a)
	}
	r.Attrs(write)
	l.notes.say("the embedded server: %s%s", r.Message, &text)
	return nil
}

// WithAttrs returns a handler that adds attrs to each record.
func (l serverLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return serverLog{l.notes, append(slices.Clip(l.attrs), attrs...)}
}

// WithGroup returns the handler itself: the server uses no groups.
func (l serverLog) WithGroup(string) slog.Handler { return l }
