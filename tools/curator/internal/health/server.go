package health

import "errors"

// Server is what a server says. With an Error the rest is zero.
type Server struct {
	Server      string  `json:"server"` // host:port
	Mode        string  `json:"mode"`   // "leader", "follower", "observer", "standalone", "read-only"
	Version     string  `json:"version"`
	Zxid        string  `json:"zxid"` // hexadecimal
	LatencyMin  float64 `json:"latencyMinMs"`
	LatencyAvg  float64 `json:"latencyAvgMs"`
	LatencyMax  float64 `json:"latencyMaxMs"`
	Connections int     `json:"connections"`
	Outstanding int     `json:"outstanding"` // requests that wait
	Nodes       int     `json:"nodes"`
	Error       string  `json:"error,omitempty"`
}

// maxAnswer bounds what is read of something that is no ZooKeeper.
const maxAnswer = 64 << 10

// notServing is in the answers of a server without a quorum.
const notServing = "not currently serving"

var errNotServing = errors.New("the server runs, but does not serve requests: it has no quorum")
