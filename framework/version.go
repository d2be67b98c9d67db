package framework

import "fmt"

// anyVersion in a request stands for any version of the node.
const anyVersion = -1

func noVersion(version int32) error {
	return fmt.Errorf("%w: WithVersion: there is no version %d", ErrInvalidBuilder, version)
}
