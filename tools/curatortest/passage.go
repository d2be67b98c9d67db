package curatortest

import (
	"net"
	"sync/atomic"
)

// passage is a connection through a proxy: the connection of a client, and the one to the server.
type passage struct {
	client net.Conn
	server net.Conn    // nil until the proxy has connected
	reset  atomic.Bool // data on its way is dropped
}

// close closes both connections.
func (c *passage) close() {
	c.client.Close()
	if c.server != nil {
		c.server.Close()
	}
}
