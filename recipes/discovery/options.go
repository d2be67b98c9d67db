package discovery

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/internal/options"
)

// Option is an option of NewServiceDiscovery. A nil Option is refused with
// framework.ErrInvalidOption.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type aclOption struct{ *options.ACL }

func (o aclOption) apply(*config) error { return o.Check() }

// config is what options set.
type config struct {
	watch bool                     // the nodes of registered instances
	path  func(name string) string // nil for basePath/name
	name  string                   // in metrics; "" for none

	background bool // nothing waits in Start
}

// newConfig applies options, and returns the client that the registry is to use.
func newConfig(client *framework.Client, opts []Option) (*framework.Client, config, error) {
	var c config
	client, err := options.Configure(client, &c, opts, Option.apply)
	return client, c, err
}

// WithWatchInstances accepts changes that others write into the nodes of registered instances,
// so an operator can disable an instance by hand. Changes that they write while the client is
// cut off may be overwritten after the reconnect. Data that cannot be decoded, or that names
// another instance, is ignored until then. It costs a watch and a read for each registered
// instance. By default such changes are ignored.
//
// What an operator writes lasts until the next Update or Register of the instance by its owner,
// which writes all of it: "enabled":false, too. An owner that calls Update from time to time, for
// example with its load, should take Disabled from QueryForInstance.
//
// Java: watchInstances(true).
func WithWatchInstances() Option {
	return option(func(c *config) error {
		c.watch = true
		return nil
	})
}

// WithPath sets the path of the node whose children are the instances of a service; the default
// is basePath/name. path must be a pure function, and is called by several goroutines. Its
// result for a name is checked when the name is used: framework.ErrInvalidPath. QueryForNames
// still lists the children of basePath.
//
// Java: DiscoveryPathConstructor.
func WithPath(path func(name string) string) Option {
	return option(func(c *config) error {
		if path == nil {
			return errors.New("WithPath: the function is nil")
		}
		c.path = path
		return nil
	})
}

// WithName sets the name of the ServiceDiscovery in metrics: curator.node.name of its nodes and
// curator.cache.name of its caches. Without a name neither is counted, because metrics have no
// paths. Use a small fixed set of names, such as "services", of at most 128 bytes. Do not make
// a name from user input or ids.
//
// Java: none.
func WithName(name string) Option {
	return option(func(c *config) error {
		c.name = name
		return telemetry.CheckName("WithName", name)
	})
}

// WithACL sets the ACL of every node that Register and Start create: those of instances, of services, of basePath,
// and the parents that are missing. The nodes of a namespace get the client's ACL, because others use them, too. A
// node that exists keeps its ACL.
//
// The list must permit the users of the registry, this client included, what they do: consumers to read, and
// the client of an instance to read, to create and to delete, and to write for Update.
// An empty list, an entry that no server accepts, and one that permits nothing are refused with
// framework.ErrInvalidACL. No server is asked for that: if one refuses the list, what creates a node fails with
// framework.ErrInvalidACL. Without the option nodes get the client's ACL: see framework.WithDefaultACL.
//
// Java: none; there the client's ACLProvider chooses.
func WithACL(acl ...framework.ACL) Option { return aclOption{options.NewACL(acl)} }

// WithStartInBackground has Start of the ServiceDiscovery, and of its caches and providers, return nil
// when it has checked what it can check without a server, so a program may start before its servers.
// Start then refuses a context that has ended, a client that is not started (framework.ErrNotStarted)
// or is closed (framework.ErrClosed), and a second Start. Its context does not matter any more when it
// has returned. In the background, until that succeeds or Close is called, a ServiceDiscovery registers
// the instances of earlier Register calls, and a cache or a provider loads its list.
//
// After the loss of the connection the next try follows the next connection. After an error that
// another try may not change, such as framework.ErrNoAuth, it follows a pause, which grows from a
// second to 30 s, or the next connection. The logger gets the first failure, the first such error,
// and the end of the failures; UnhandledErrorListenable of the client gets the first such error. An
// instance that cannot be registered does not keep others from being registered.
//
// Until then Update and Unregister change what will be registered, and Register registers its instance
// itself: it waits, and its errors are those of Register. A cache has no instances, a provider
// returns ErrNoInstance with the reason, and Updates has not begun.
//
// By default Start waits, and fails when the client's retry policy gives up.
//
// Java: ServiceDiscovery.start, which logs failures and does not try again before the next
// connection, and ServiceCache.startImmediate.
func WithStartInBackground() Option {
	return option(func(c *config) error {
		c.background = true
		return nil
	})
}

// Errors of this package; compare with errors.Is.
var (
	// ErrNotRegistered is returned by Update for an instance that this ServiceDiscovery has not
	// registered.
	ErrNotRegistered = errors.New("the instance is not registered here")
	// ErrNoInstance is returned when no instance of the service is registered, enabled,
	// accepted by the filter and not down.
	ErrNoInstance = errors.New("no instance of the service")
)

// errForeignData is logged for data that others have written into the node of an instance.
var errForeignData = errors.New("the data is not that of the instance")

func errNilCodec(where string) error {
	return fmt.Errorf("%w: %s: the serializer is nil", framework.ErrInvalidOption, where)
}
