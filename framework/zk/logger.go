package zk

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
)

// logging passes what a client logs on to a Logger.
type logging struct {
	logger atomic.Pointer[Logger]
	info   bool // information, too
}

func (l *logging) set(logger Logger) {
	if logger == nil {
		logger = DefaultLogger
	}
	l.logger.Store(&logger)
}

func (l *logging) printf(format string, args ...any) { (*l.logger.Load()).Printf(format, args...) }

// logHandler is the slog.Handler of a client's logging.
type logHandler struct {
	to    *logging
	attrs string
	group string
}

func (h logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || level == slog.LevelInfo && h.to.info
}

func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(text(h.group, a))
		return true
	})
	h.to.printf("%s", b.String())
	return nil
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += text(h.group, a)
	}
	return h
}

func (h logHandler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.group += name + "."
	}
	return h
}

func text(group string, a slog.Attr) string { return " " + group + a.Key + "=" + a.Value.String() }
