package framework

import "fmt"

// ClientState is the phase of a client's life. Java: CuratorFrameworkState.
type ClientState int

// The phases.
const (
	// Latent clients have not been started.
	Latent ClientState = iota
	// Started clients have been started and not closed.
	Started
	// Stopped clients have been closed.
	Stopped
)

// String returns Java's name, such as STARTED.
func (s ClientState) String() string {
	switch s {
	case Latent:
		return "LATENT"
	case Started:
		return "STARTED"
	case Stopped:
		return "STOPPED"
	}
	return fmt.Sprintf("ClientState(%d)", int(s))
}
