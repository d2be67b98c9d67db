package watch

import "github.com/go-curator/curator/recipes/internal/options"

// Option is an option of NewPersistentWatcher. A nil Option is refused with
// framework.ErrInvalidOption.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

// config is what options set.
type config struct {
	background bool // Start does not wait
}

func newConfig(opts []Option) (config, error) {
	var c config
	err := options.Apply(&c, opts, Option.apply)
	return c, err
}

// WithStartInBackground has Start return nil when it has checked what it can check without a server,
// so a program may start before its servers. Start then refuses a context that has ended, a client
// that is not started (framework.ErrNotStarted) or is closed (framework.ErrClosed), and a second
// Start. Its context does not matter any more when it has returned: the watch is set in the
// background until that succeeds or Close is called.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrUnimplemented, it follows a pause, which grows
// from a second to 30 s, or the next connection. The logger gets the first failure, the first such
// error, and the end of the failures; UnhandledErrorListenable of the client gets the first such
// error.
//
// There are no events before the watch is set. When it is set, listeners and Events get
// framework.WatchReset, with the path of the watcher: read now what the watch is about. Events of
// changes may come right before it.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: start, which does not wait, and getResetListenable.
func WithStartInBackground() Option {
	return option(func(c *config) error {
		c.background = true
		return nil
	})
}
