package discovery

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrNotRegistered is returned by Update for an instance that this ServiceDiscovery has not
	// registered.
	ErrNotRegistered = errors.New("the instance is not registered here")
	// ErrNoInstance is returned when no instance of the service is registered, enabled,
	// accepted by the filter and not down.
	ErrNoInstance = errors.New("no instance of the service")
)

// errForeignData is logged for data that others have written into the node of an instance.
var errForeignData = errors.New("the data is not that of the instance")

var errNilContext = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)

func errNilCodec(where string) error {
	return fmt.Errorf("%w: %s: the serializer is nil", framework.ErrInvalidOption, where)
}
