package framework

import "github.com/go-curator/curator/internal/zkconn"

// ParseEnsemble and ClientServers are what the tracker makes of a configuration, and
// ParseConnectString what NewClient makes of its argument.
var (
	ParseEnsemble = parseEnsemble
	ClientServers = Ensemble.clientServers

	ParseConnectString = parseConnectString
)

// OnEvent is what the session layer calls.
func (c *Client) OnEvent(e zkconn.Event) { c.core.onEvent(e) }
