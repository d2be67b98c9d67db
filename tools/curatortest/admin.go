package curatortest

import "cmp"

// WithAdminServer makes real servers run ZooKeeper's AdminServer, each on a free port of the
// loopback interface: see [Member.AdminPort]. It needs Jetty, which comes with releases of
// ZooKeeper and with Debian's package. An embedded server refuses this option.
func WithAdminServer() Option {
	return option(func(c *config) {
		c.realOnly = cmp.Or(c.realOnly, "WithAdminServer")
		c.admin = true
	})
}

// AdminPort returns the port of the server's AdminServer on the loopback interface, 0 without
// [WithAdminServer]. Network faults of this package do not affect it.
func (m *Member) AdminPort() int { return m.setup.adminPort }
