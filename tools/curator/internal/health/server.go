package health

import "errors"

// Server is the state of a server, as the server reports it. If there is an Error, the other fields
// are zero, but for Server.
type Server struct {
	Server      string  `json:"server"` // host:port
	Mode        string  `json:"mode"`   // "leader", "follower", "observer", "standalone", "read-only"
	Version     string  `json:"version"`
	Zxid        string  `json:"zxid"` // hexadecimal
	LatencyMin  float64 `json:"latencyMinMs"`
	LatencyAvg  float64 `json:"latencyAvgMs"`
	LatencyMax  float64 `json:"latencyMaxMs"`
	Connections int     `json:"connections"`
	Outstanding int     `json:"outstanding"` // queued requests
	Nodes       int     `json:"nodes"`
	Error       string  `json:"error,omitempty"`
}

// maxAnswer bounds how much of an answer is read, because the server may not be ZooKeeper.
const maxAnswer = 64 << 10

// notServing is a part of the answers of a server without a quorum.
const notServing = "not currently serving"

var errNotServing = errors.New("the server runs, but does not serve requests: it has no quorum")
