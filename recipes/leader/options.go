package leader

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-curator/curator/framework"
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

	background bool // Start does not wait
}

type anyOption func(*config) error

func (o anyOption) applySelector(c *config) error { return o(c) }
func (o anyOption) applyLatch(c *config) error    { return o(c) }

type aclOption struct{ *options.ACL }

func (o aclOption) applySelector(*config) error { return o.Check() }
func (o aclOption) applyLatch(*config) error    { return o.Check() }

type latchOption func(*config) error

func (o latchOption) applyLatch(c *config) error { return o(c) }

// newConfig applies options, and returns the client that the election is to use. apply is the method of O that
// applies one.
func newConfig[O comparable](client *framework.Client, opts []O, apply func(O, *config) error) (*framework.Client, config, error) {
	var cfg config
	client, err := options.Configure(client, &cfg, opts, apply)
	return client, cfg, err
}

// WithID sets the participant's id, in UTF-8. It is the whole data of its node, which Java
// shows as the id. The default has the form of locks.Contender.Owner, "orders-api on web-7, pid
// 4242"; Java's default is "".
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

// WithACL sets the ACL of every node that the participant creates: its own, the election's, and the parents that
// are missing. The nodes of a namespace get the client's ACL, because others use them, too. A node that exists
// keeps its ACL.
//
// The list must permit the users of the election, this client included, what they do: to read, to create and
// to delete.
// An empty list, an entry that no server accepts, and one that permits nothing are refused with
// framework.ErrInvalidACL. No server is asked for that: if one refuses the list, what creates a node fails with
// framework.ErrInvalidACL. Without the option nodes get the client's ACL: see framework.WithDefaultACL.
//
// Java: none; there the client's ACLProvider chooses.
func WithACL(acl ...framework.ACL) Option { return aclOption{options.NewACL(acl)} }

// CloseMode says whether listeners get the end of the term when a leading latch is closed.
//
// Java: LeaderLatch.CloseMode.
type CloseMode int

// The modes. The zero value is NotifyLeader; Java's default is Silent.
const (
	// NotifyLeader reports the end of the term to listeners.
	NotifyLeader CloseMode = iota
	// Silent reports nothing. The lease's context still ends.
	Silent
)

// WithCloseMode sets whether Close reports the end of the term to listeners.
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

// WithStartInBackground has Start of a latch return nil when it has checked what it can check without
// a server, so a program may start before its servers. Start then refuses a context that has ended, a
// client that is not started (framework.ErrNotStarted) or is closed (framework.ErrClosed), and a
// second Start. Its context does not matter any more when it has returned: the latch joins in the
// background until that succeeds or Close is called.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrNoAuth or locks.ErrKindMismatch, it follows a
// pause, which grows from a second to 30 s, or the next connection. The logger gets the first
// failure, the first such error, and the end of the failures; UnhandledErrorListenable of the client
// gets the first such error.
//
// Until then the latch does not lead, and Await waits. Listeners are told when it leads.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: LeaderLatch.start, which does not wait.
func WithStartInBackground() LatchOption {
	return latchOption(func(c *config) error {
		c.background = true
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
