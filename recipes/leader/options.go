package leader

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
)

// Option is an option of LeaderSelector and LeaderLatch.
type Option interface {
	SelectorOption
	LatchOption
}

// SelectorOption is an option of LeaderSelector.
type SelectorOption interface{ applySelector(*config) error }

// LatchOption is an option of LeaderLatch.
type LatchOption interface{ applyLatch(*config) error }

type config struct {
	id      string
	idGiven bool
	name    string
	silent  bool // Close tells the listeners nothing
}

type anyOption func(*config) error

func (o anyOption) applySelector(c *config) error { return o(c) }
func (o anyOption) applyLatch(c *config) error    { return o(c) }

type latchOption func(*config) error

func (o latchOption) applyLatch(c *config) error { return o(c) }

// newConfig applies options. apply is the method of O that applies one.
func newConfig[O comparable](opts []O, apply func(O, *config) error) (config, error) {
	var cfg config
	err := options.Apply(&cfg, opts, apply)
	return cfg, err
}

// WithID sets what the participant calls itself, in UTF-8. It is the whole data of its
// node, which Java shows as the id. The default is text of the kind of
// locks.Contender.Owner, "orders-api on web-7, pid 4242"; Java's is none, "".
//
// Java: LeaderSelector.setId, the constructor LeaderLatch(client, path, id).
func WithID(id string) Option {
	return anyOption(func(c *config) error {
		if !utf8.ValidString(id) {
			return fmt.Errorf("WithID(%q) is not UTF-8", id)
		}
		c.id, c.idGiven = id, true
		return nil
	})
}

// WithName sets the election's name in spans and metrics, curator.leader.name; see
// locks.WithName, which a selector's mutex gets, too.
func WithName(name string) Option {
	return anyOption(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}

// CloseMode is what a latch's listeners are told when a leading latch is closed.
//
// Java: LeaderLatch.CloseMode.
type CloseMode int

// The modes. The zero value is NotifyLeader; Java's default is Silent.
const (
	// NotifyLeader tells them that the term has ended.
	NotifyLeader CloseMode = iota
	// Silent tells them nothing. The lease's context ends all the same.
	Silent
)

// WithCloseMode sets what listeners are told by Close.
//
// Java: the constructor LeaderLatch(client, path, id, closeMode).
func WithCloseMode(mode CloseMode) LatchOption {
	return latchOption(func(c *config) error {
		if mode != NotifyLeader && mode != Silent {
			return errors.New("WithCloseMode: the mode is neither NotifyLeader nor Silent")
		}
		c.silent = mode == Silent
		return nil
	})
}

// String returns Java's name, NOTIFY_LEADER or SILENT.
func (m CloseMode) String() string {
	switch m {
	case NotifyLeader:
		return "NOTIFY_LEADER"
	case Silent:
		return "SILENT"
	}
	return fmt.Sprintf("CloseMode(%d)", int(m))
}
