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

// ErrInvalidOption is returned for invalid options.
var ErrInvalidOption = errors.New("invalid option")

// config is the configuration that options set.
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
	home       string // the folder of WithHome
	ticks      ticks
	nodes      []node            // the nodes of WithNodes, parents first
	settings   map[string]string // lines of a real server's zoo.cfg
	only       only
	err        error

	environment func(i int) []string // of a real server; nil for nothing more
}

// only is the first option that only one kind of server has, with that kind.
type only struct{ real, embedded string }

// ticks are limits in a real server's configuration, in ticks.
type ticks struct{ init, sync int }

// invalid records an error of an option. Only the first error is kept.
func (c *config) invalid(option, why string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s: %s", ErrInvalidOption, option, why)
	}
}

func newConfig(opts []Option) (config, error) {
	var c config
	for _, opt := range opts {
		if opt == nil {
			c.invalid("nil", "an option must not be nil")
			continue
		}
		opt.apply(&c)
	}
	if c.virtual && c.listen != "" {
		c.invalid("WithListen", "a virtual server has no address")
	}
	return c, c.err
}

// Option is an option of a server.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// Virtual makes a server without sockets, which uses the time of the bubble of testing/synctest
// that it is started in: there hours of session time take milliseconds. Only
// [Server.DialContext] connects to it.
func Virtual() Option { return option(func(c *config) { c.virtual = true }) }

// WithTickTime sets the tick, 2 s by default; sessions last 2 to 20 ticks,
// unless WithSessionTimeouts sets other bounds.
func WithTickTime(d time.Duration) Option {
	return option(func(c *config) {
		if d < time.Millisecond {
			c.invalid("WithTickTime", "the tick must be at least 1 ms")
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
			c.invalid("WithSessionTimeouts", "least must be at least 1 ms, and not above most")
		}
		c.zookeeper.MinSessionTimeout, c.zookeeper.MaxSessionTimeout = least, most
	})
}

// WithSyncLimit sets the number of ticks without a message after which a follower gives up its
// leader, and a leader a follower. The default is 20, because of slow machines; ZooKeeper's
// sample configuration has 5. It is ZooKeeper's syncLimit. An embedded server refuses this
// option.
func WithSyncLimit(n int) Option {
	return ticksOption("WithSyncLimit", n, func(c *config) { c.ticks.sync = n })
}

// WithInitLimit sets the number of ticks that a server has to connect to its leader and to get
// its data. The default is 40; ZooKeeper's sample configuration has 10. It is ZooKeeper's
// initLimit. An embedded server refuses this option.
func WithInitLimit(n int) Option {
	return ticksOption("WithInitLimit", n, func(c *config) { c.ticks.init = n })
}

// ticksOption returns an option that sets a number of ticks of a real server.
func ticksOption(name string, n int, set func(*config)) Option {
	return option(func(c *config) {
		if n < 1 {
			c.invalid(name, "it must be at least one tick")
		}
		c.only.real = cmp.Or(c.only.real, name)
		set(c)
	})
}

// WithListen sets the address, 127.0.0.1:0 by default, which is a free port.
func WithListen(address string) Option {
	return option(func(c *config) {
		if address == "" {
			c.invalid("WithListen", "the address is empty")
		}
		c.listen = address
	})
}

// WithNodes makes the server, or the ensemble, start with nodes: data by path. They are
// persistent and have an open ACL. Missing parents are created without data. RestartEmpty
// deletes them. Several options add up.
//
// It does not accept the root and nodes below /zookeeper, and it cannot be combined with
// [WithSASLRequired]. The start returns an error for a path that ZooKeeper refuses.
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

// refusedNode returns the error for a node that a server has refused to create.
func refusedNode(n node, code jute.Code) error {
	if code == jute.CodeOK {
		return nil
	}
	return fmt.Errorf("%w: WithNodes: %q is not a valid path, or cannot be created (%d)", ErrInvalidOption, n.path, code)
}

// WithSettings adds lines to the configuration of real servers, zoo.cfg, by their names, such
// as maxClientCnxns or snapCount. They override this package's own, except those that it needs
// to run servers: ports, addresses, folders, members. An embedded server refuses this option.
// Java: the custom properties of InstanceSpec.
func WithSettings(settings map[string]string) Option {
	given := maps.Clone(settings)
	return option(func(c *config) {
		c.only.real = cmp.Or(c.only.real, "WithSettings")
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

// ownSettings are the settings that this package must set itself.
var ownSettings = []string{
	"dataDir", "dataLogDir", "clientPort", "clientPortAddress", "secureClientPort", "secureClientPortAddress",
	"4lw.commands.whitelist", "admin.enableServer", "admin.serverPort", "admin.serverAddress", "dynamicConfigFile", "standaloneEnabled", "reconfigEnabled",
}

// settingMistake returns why a line cannot be in a server's configuration, or "".
func settingMistake(name, value string) string {
	switch {
	case name == "" || strings.ContainsAny(name, " \t\r\n=:#!\\"):
		return fmt.Sprintf("%q is not a valid name of a setting", name)
	case strings.ContainsAny(value, "\r\n"):
		return fmt.Sprintf("the value of %s has more than one line", name)
	case slices.Contains(ownSettings, name) || strings.HasPrefix(name, "server."):
		return name + " is set by this package"
	}
	return ""
}

// WithLatency makes the network between clients and the server slow: every message takes d, in
// each direction, so an answer comes after twice d. Connecting takes no time.
func WithLatency(d time.Duration) Option {
	return option(func(c *config) {
		if d < 0 {
			c.invalid("WithLatency", "the latency must not be below 0")
		}
		c.zookeeper.Latency = d
	})
}

// WithContainerCheckInterval sets how often the server removes empty containers, and TTL
// nodes whose time has passed. The default is 60 s.
func WithContainerCheckInterval(d time.Duration) Option {
	return option(func(c *config) {
		if d < time.Millisecond {
			c.invalid("WithContainerCheckInterval", "the interval must be at least 1 ms")
		}
		c.zookeeper.ContainerCheckInterval = d
	})
}

// WithContainerMaxNeverUsed sets after what time without a write the server also removes a
// container that never had a child, when it next looks for empty containers. 0, the default, is
// never. It is ZooKeeper's znode.container.maxNeverUsedIntervalMs, which servers before 3.6 do not
// have. Up to 3.9 its default is 0; the development version, 3.10, has 5 minutes.
func WithContainerMaxNeverUsed(d time.Duration) Option {
	return option(func(c *config) {
		if d != 0 && d < time.Millisecond {
			c.invalid("WithContainerMaxNeverUsed", "the time must be 0 or at least 1 ms")
		}
		c.zookeeper.ContainerMaxNeverUsed = d
	})
}

// WithProductionSettings makes a real server run with production settings, for benchmarks: it
// writes to its disk before it answers, its JVM optimizes fully, and the pauses between its votes in
// an election grow to a minute. By default it does none of this, so it starts sooner; a test's data need
// not survive a crash of the machine. The embedded server ignores this.
func WithProductionSettings() Option {
	return option(func(c *config) { c.production, c.sync = true, true })
}

// WithoutForceSync makes a real server answer before its log is on the disk, also if
// WithProductionSettings comes before it. A benchmark then measures the processor, not the
// disk. It is ZooKeeper's forceSync=no. The embedded server ignores this.
func WithoutForceSync() Option { return option(func(c *config) { c.sync = false }) }

// WithReconfig permits framework's Reconfig to change the members of a real ensemble, with a
// client that is the superuser: WithAuthorization("digest", []byte("super:super")). There is no
// proxy between the servers then, so none can be isolated. The embedded server ignores this.
func WithReconfig() Option { return option(func(c *config) { c.reconfig = true }) }

// WithoutExtendedTypes makes a real server run without zookeeper.extendedTypesEnabled, which is
// ZooKeeper's default: it then refuses nodes with a time to live. The embedded server ignores
// this.
func WithoutExtendedTypes() Option { return option(func(c *config) { c.plainTypes = true }) }

// newEmbeddedConfig is newConfig for the embedded server. Options of TLS, SASL and reads without a quorum are
// errors for it.
func newEmbeddedConfig(opts []Option) (config, error) {
	c, err := newConfig(opts)
	if name := c.security.embeddedMistake(); err == nil && name != "" {
		err = fmt.Errorf("%w: %s: only for real servers: see Real and RealEnsemble", ErrInvalidOption, name)
	}
	return c, err
}

// WithTLS makes real servers also listen for TLS, on a separate port, ZooKeeper's
// secureClientPort: see [Ensemble.TLSConnectString] and [Ensemble.TLSConfig]. The plain port
// stays. Connections between servers are not encrypted. An embedded server refuses this option.
//
//	ensemble := curatortest.Real(t, curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAndVerifyClientCert}))
//	client := curatortest.NewClient(t, ensemble.TLSConnectString(), framework.WithoutEnsembleTracker(),
//		framework.WithTLS(ensemble.TLSConfigWith(curatortest.Certificate{Subject: pkix.Name{CommonName: "orders"}})))
//
// settings.Server makes certificates that a client must refuse: an expired certificate has a
// NotAfter in the past, a certificate for another host has other Hosts, and a certificate of an
// untrusted authority has UnknownAuthority. Certificates of clients are made in the same way.
func WithTLS(settings TLS) Option {
	return option(func(c *config) { c.security.tls = &settings })
}

// WithSASL makes real servers authenticate clients by SASL's DIGEST-MD5, with a password for
// each name. Clients that do not authenticate are also served: see [WithSASLRequired]. A user
// is the id in ACLs of the scheme sasl. An embedded server refuses this option.
//
// A name has only letters, digits, _, - and . characters. The passwords are in a file that only
// the user of the test can read, until the server is closed.
func WithSASL(users map[string]string) Option {
	users = maps.Clone(users)
	return option(func(c *config) {
		c.security.users = users
		if len(users) == 0 {
			c.invalid("WithSASL", "no users")
		}
	})
}

// WithSASLRequired makes real servers with [WithSASL] serve only clients that have
// authenticated: they answer the first request of other clients, and a wrong password, with the
// error -124, and end the connection. The session of such a client lives until it expires. It
// is ZooKeeper's sessionRequireClientSASLAuth. An embedded server refuses this option.
func WithSASLRequired() Option {
	return option(func(c *config) { c.security.saslRequired = true })
}

// WithReadOnlyMode lets a member of a real ensemble that has lost its quorum serve reads to
// clients that ask for it in their connect request; it is ZooKeeper's readonlymode.enabled.
// See [Member.AwaitReadOnly]. A standalone real server and an embedded server refuse this
// option.
//
// A member without a quorum serves only new, local sessions. The servers therefore have
// ZooKeeper's local sessions, also while there is a quorum: only its server knows a session
// until it creates its first ephemeral node, and the session expires if its client moves to
// another server before.
func WithReadOnlyMode() Option {
	return option(func(c *config) { c.security.readOnly = true })
}

// WithAdminServer makes real servers run ZooKeeper's AdminServer, each on a free port of the
// loopback interface: see [Member.AdminPort]. It needs Jetty, which comes with releases of
// ZooKeeper and with Debian's package. An embedded server refuses this option.
func WithAdminServer() Option {
	return option(func(c *config) {
		c.only.real = cmp.Or(c.only.real, "WithAdminServer")
		c.admin = true
	})
}

// node is a node that a server starts with.
type node struct{ path, data string }

// maxNode bounds the length of a node that a server starts with, so that a client can read it.
const maxNode = 1<<20 - 1<<10

// newNodes returns the given nodes and their parents, parents first, or why a node is invalid.
func newNodes(given map[string]string) (nodes []node, why string) {
	all := map[string]string{}
	for path, data := range given {
		switch {
		case path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/"):
			return nil, path + " is reserved by ZooKeeper"
		case !strings.HasPrefix(path, "/") || path == "/":
			return nil, fmt.Sprintf("%q does not begin with a slash and a name", path)
		case len(path)+len(data) > maxNode:
			return nil, fmt.Sprintf("%s has %d bytes: more than a client could read", path, len(data))
		}
		all[path] = data
		for above := path[:strings.LastIndexByte(path, '/')]; above != ""; above = above[:strings.LastIndexByte(above, '/')] {
			all[above] = given[above]
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		nodes = append(nodes, node{path, all[path]})
	}
	return nodes, ""
}
