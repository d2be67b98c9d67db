package zkserver

import "github.com/go-curator/curator/internal/zkserver/netfault"

// Direction is a direction of the network.
type Direction = netfault.Direction

// The directions.
const (
	Both     = netfault.Both
	ToServer = netfault.ToServer
	ToClient = netfault.ToClient
)

// link is a part of the network, which can be broken in each direction.
type link struct {
	toServer netfault.Gate // shut while it loses what clients send
	toClient netfault.Gate // shut while it loses what the server sends
}

// hold breaks the link in a direction until heal is called.
func (l *link) hold(d Direction) (heal func()) {
	var heals []func()
	if d != ToClient {
		heals = append(heals, l.toServer.Hold())
	}
	if d != ToServer {
		heals = append(heals, l.toClient.Hold())
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}
