package framework

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/tracing"
)

// WithLogger sets the logger. The default is slog.Default() at the time of NewClient.
// slog.New(slog.DiscardHandler) silences the client.
func WithLogger(logger *slog.Logger) Option {
	return option(func(c *config) error {
		if logger == nil {
			return errors.New("WithLogger: the logger is nil")
		}
		c.client.Logger = logger
		return nil
	})
}

// WithTracing sets how the client and its recipes are traced and measured. The default uses
// OpenTelemetry's global providers, also if they are set later, and writes the owner into the
// nodes of locks: see tracing.WithoutHolderLinks.
//
// Java: CuratorZookeeperClient.setTracerDriver.
func WithTracing(opts ...tracing.Option) Option {
	return option(func(c *config) error {
		c.tracing, c.untraced = tracing.NewSettings(opts...), false
		return nil
	})
}

// WithoutTracing turns spans and metrics off. The nodes of locks have the data of Java's.
func WithoutTracing() Option {
	return option(func(c *config) error {
		c.untraced = true
		return nil
	})
}

// maxLabel keeps the data of lock nodes short.
const maxLabel = 128

// WithOwnerLabel sets the label of this program in the nodes of locks, in addition to its host
// and process id. locks.Inspect, the spans of waiters, and every client that may read the node
// show it. The default is the name of the program's file. "" leaves the label out;
// tracing.WithoutHolderLinks leaves out host and process id, too.
func WithOwnerLabel(label string) Option {
	return option(func(c *config) error {
		if len(label) > maxLabel || !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) {
			return fmt.Errorf("WithOwnerLabel(%q) is no text of one line and %d bytes", label, maxLabel)
		}
		c.ownerLabel = label
		return nil
	})
}

// newTelemetry returns what the options of a client ask for, nil for nothing.
func (c *config) newTelemetry(chroot string) *telemetry.Telemetry {
	if c.untraced {
		return nil
	}
	return telemetry.New(telemetry.Config{Settings: c.tracing, Data: c.client.DefaultData, Label: c.ownerLabel, Chroot: chroot})
}
