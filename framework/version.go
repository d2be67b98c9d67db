package framework

import "fmt"

// anyVersion is the version of a request that any version of the node will do for.
const anyVersion = -1

func noVersion(version int32) error {
	return fmt.Errorf("%w: WithVersion: there is no version %d", ErrInvalidBuilder, version)
}
