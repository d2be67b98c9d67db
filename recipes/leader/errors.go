package leader

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrStop is returned by a leader's function to end Run with nil, so that Run does not join
	// again. This package never returns it.
	ErrStop = errors.New("stop standing for election")

	// ErrInterrupted is the cause of the end of a leader's context after Interrupt.
	ErrInterrupted = errors.New("leadership was interrupted")

	// ErrNoLeader is returned when nobody leads.
	ErrNoLeader = errors.New("no leader")
)

var (
	errNil     = fmt.Errorf("%w: the leader latch or selector is nil or the zero value", framework.ErrNotStarted)
	errNilFunc = fmt.Errorf("%w: takeLeadership is nil", framework.ErrInvalidOption)
	errNilCtx  = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
)
