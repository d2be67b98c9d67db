package shared

import "github.com/go-curator/curator/recipes/internal/options"

// Option is an option of NewValue and NewCount.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type config struct {
	noCreate   bool
	background bool // Start does not wait
}

// WithoutCreate makes Start not create the node: the seed is the value until another client
// creates the node. It is for readers, and for clients that may not write. Set, TrySet and
// Update still create the node. By default Start creates the node with the seed.
//
// Java: none; SharedCountReader and SharedValueReader are interfaces of a SharedCount and a
// SharedValue, which create the node.
func WithoutCreate() Option {
	return option(func(c *config) error {
		c.noCreate = true
		return nil
	})
}

// WithStartInBackground has Start return nil when it has checked what it can check without a server,
// so a program may start before its servers. Start then refuses a context that has ended, a client
// that is not started (framework.ErrNotStarted) or is closed (framework.ErrClosed), and a second
// Start. Its context does not matter any more when it has returned: the value is read, or its node
// is created, in the background until that succeeds or Close is called.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrNoAuth or codec.ErrDecode, it follows a pause,
// which grows from a second to 30 s, or the next connection. The logger gets the first failure, the
// first such error, and the end of the failures; UnhandledErrorListenable of the client gets the
// first such error.
//
// Until then the value is the seed, with Zxid -1; a semaphore whose count it is uses the seed. Set,
// TrySet and Update work. Updates begins when Start would have returned. Listeners are told the first
// value, too: it is a change of the seed.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: none; start waits, and fails.
func WithStartInBackground() Option {
	return option(func(c *config) error {
		c.background = true
		return nil
	})
}

func newConfig(opts []Option) (config, error) {
	var cfg config
	err := options.Apply(&cfg, opts, Option.apply)
	return cfg, err
}
