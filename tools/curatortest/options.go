package curatortest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver"
)

// ErrInvalidOption is matched by the errors of options that make no sense.
var ErrInvalidOption = errors.New("invalid option")

// config is what options set.
type config struct {
	zookeeper  zkserver.Config
	security   security
	virtual    bool
	production bool
	sync       bool
	reconfig   bool
	plainTypes bool
	admin      bool
	listen     string
	ticks      ticks
	nodes      []node            // those that servers start with, parents first
	settings   map[string]string // of a real server's configuration
	realOnly   string            // the first option that only a real server has
	err        error
}

// ticks are limits of a real server's configuration, in ticks.
type ticks struct{ init, sync int }

// invalid notes the first error of an option.
func (c *config) invalid(option, why string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s: %s", ErrInvalidOption, option, why)
	}
}

func newConfig(opts []Option) (config, error) {
	var c config
	for _, opt := range opts {
		if opt == nil {
			c.invalid("nil", "no option")
			continue
		}
		opt.apply(&c)
	}
	if c.virtual && c.listen != "" {
		c.invalid("WithListen", "a virtual server has no address")
	}
	return c, c.err
}

// Option sets something of a server.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// Virtual makes a server without sockets, whose time is the time of the bubble of
// testing/synctest that it is started in: inside one, hours of session time pass in
// milliseconds. It is reached by [Server.DialContext] only.
func Virtual() Option { return option(func(c *config) { c.virtual = true }) }

// WithTickTime sets the tick, 2 s by default; sessions last 2 to 20 ticks,
// unless WithSessionTimeouts sets other bounds.
func WithTickTime(d time.Duration) Option {
	return option(func(c *config) {
		if d < time.Millisecond {
			c.invalid("WithTickTime", "less than 1 ms")
		}
		c.zookeeper.TickTime = d
	})
}

// WithSessionTimeouts sets the bounds within which a server grants session timeouts: a client
// that asks for less gets least, one that asks for more gets most. The default is 2 and 20 ticks.
// It is ZooKeeper's minSessionTimeout and maxSessionTimeout. The servers of an ensemble have the
// same bounds.
func WithSessionTimeouts(least, most time.Duration) Option {
	return option(func(c *config) {
		if least < time.Millisecond || most < least {
			c.invalid("WithSessionTimeouts", "not 1 ms or more, and the lesser one first")
		}
		c.zookeeper.MinSessionTimeout, c.zookeeper.MaxSessionTimeout = least, most
	})
}

// WithSyncLimit sets after how many ticks without a word the servers of an ensemble give each
// other up: a follower its leader, and a leader its followers. The default is 20, so that a slow
// machine does no harm; that of ZooKeeper's sample configuration is 5. It is ZooKeeper's
// syncLimit, for real servers only: an embedded server refuses it.
func WithSyncLimit(n int) Option {
	return ticksOption("WithSyncLimit", n, func(c *config) { c.ticks.sync = n })
}

// WithInitLimit sets how many ticks a server has to connect to its leader and to get its data.
// The default is 40; that of ZooKeeper's sample configuration is 10. It is ZooKeeper's
// initLimit, for real servers only: an embedded server refuses it.
func WithInitLimit(n int) Option {
	return ticksOption("WithInitLimit", n, func(c *config) { c.ticks.init = n })
}

// ticksOption returns an option that sets a number of ticks of a real server.
func ticksOption(name string, n int, set func(*config)) Option {
	return option(func(c *config) {
		if n < 1 {
			c.invalid(name, "less than one tick")
		}
		c.realOnly = cmp.Or(c.realOnly, name)
		set(c)
	})
}

// WithListen sets the address, 127.0.0.1:0 by default, which is a free port.
func WithListen(address string) Option {
	return option(func(c *config) {
		if address == "" {
			c.invalid("WithListen", "no address")
		}
		c.listen = address
	})
}

// WithNodes has the server, or the ensemble, start with nodes: data by path. They are
// persistent, everybody may do everything with them, and nodes above them that are not named
// are made without data. RestartEmpty takes them away. Options add to each other.
//
// The root and what is below /zookeeper cannot be given, nor can servers [WithSASLRequired]
// have it. A path that ZooKeeper refuses is an error of the start.
func WithNodes(nodes map[string]string) Option {
	given := maps.Clone(nodes)
	return option(func(c *config) {
		all := map[string]string{}
		for _, n := range c.nodes {
			all[n.path] = n.data
		}
		maps.Copy(all, given)
		made, why := newNodes(all)
		if why != "" {
			c.invalid("WithNodes", why)
		}
		c.nodes = made
	})
}

// refusedNode is the error about a node that a server does not take.
func refusedNode(n node, code jute.Code) error {
	if code == jute.CodeOK {
		return nil
	}
	return fmt.Errorf("%w: WithNodes: %q is no path, or cannot be created (%d)", ErrInvalidOption, n.path, code)
}

// WithSettings adds lines to the configuration of real servers, zoo.cfg, by their names, such
// as maxClientCnxns or snapCount. They win over this package's own, but for those that it needs
// to run servers: ports, addresses, folders, members. It is for real servers only: an embedded
// server refuses it. Java: the custom properties of InstanceSpec.
func WithSettings(settings map[string]string) Option {
	given := maps.Clone(settings)
	return option(func(c *config) {
		c.realOnly = cmp.Or(c.realOnly, "WithSettings")
		for name, value := range given {
			if why := settingMistake(name, value); why != "" {
				c.invalid("WithSettings", why)
			}
		}
		if c.settings == nil {
			c.settings = map[string]string{}
		}
		maps.Copy(c.settings, given)
	})
}

// ownSettings are those that servers could not run without.
var ownSettings = []string{
	"dataDir", "dataLogDir", "clientPort", "clientPortAddress", "secureClientPort", "secureClientPortAddress",
	"4lw.commands.whitelist", "admin.enableServer", "admin.serverPort", "admin.serverAddress", "dynamicConfigFile", "standaloneEnabled", "reconfigEnabled",
}

// settingMistake returns why a line cannot be in a server's configuration, or "".
func settingMistake(name, value string) string {
	switch {
	case name == "" || strings.ContainsAny(name, " \t\r\n=:#!\\"):
		return fmt.Sprintf("%q is no name of a setting", name)
	case strings.ContainsAny(value, "\r\n"):
		return fmt.Sprintf("the value of %s has more than one line", name)
	case slices.Contains(ownSettings, name) || strings.HasPrefix(name, "server."):
		return name + " is set by this package"
	}
	return ""
}

// WithLatency makes the network between clients and the server slow: all that is sent takes
// d, in each direction, so that an answer comes after twice that. Connecting takes no time.
func WithLatency(d time.Duration) Option {
	return option(func(c *config) {
		if d < 0 {
			c.invalid("WithLatency", "less than 0")
		}
		c.zookeeper.Latency = d
	})
}

// WithContainerCheckInterval sets how often the server removes empty containers, and TTL
// nodes whose time has passed. The default is 60 s.
func WithContainerCheckInterval(d time.Duration) Option {
	return option(func(c *config) {
		if d < time.Millisecond {
			c.invalid("WithContainerCheckInterval", "less than 1 ms")
		}
		c.zookeeper.ContainerCheckInterval = d
	})
}

// WithProductionSettings has a real server run as it does in production, for benchmarks: it
// writes to its disk before it answers, and its JVM compiles all that it can. By default it
// does neither, so that it starts sooner; a test's data need not survive the machine. The
// embedded server ignores this.
func WithProductionSettings() Option {
	return option(func(c *config) { c.production, c.sync = true, true })
}

// WithoutForceSync has a real server answer before its log is on the disk, also with
// WithProductionSettings before it: what is measured then is the processor. It is ZooKeeper's
// forceSync=no. The embedded server ignores this.
func WithoutForceSync() Option { return option(func(c *config) { c.sync = false }) }

// WithReconfig lets the members of a real ensemble be changed by framework's Reconfig, by a
// client that is the superuser: WithAuthorization("digest", []byte("super:super")). There is
// no proxy between the servers then, so that none can be isolated. The embedded server
// ignores this.
func WithReconfig() Option { return option(func(c *config) { c.reconfig = true }) }

// WithoutExtendedTypes has a real server run without zookeeper.extendedTypesEnabled, as it does by
// default: it then refuses nodes with a time to live. The embedded server ignores this.
func WithoutExtendedTypes() Option { return option(func(c *config) { c.plainTypes = true }) }
