package curatortest

import (
	"net"
	"sync/atomic"
)

// passage is a connection through a proxy: that of a client, and the one to the server.
type passage struct {
	client net.Conn
	server net.Conn    // nil until the proxy has connected
	reset  atomic.Bool // what is on its way is lost
}

// close closes both connections.
func (c *passage) close() {
	c.client.Close()
	if c.server != nil {
		c.server.Close()
	}
}
