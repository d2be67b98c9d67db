package leader

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrStop is what a leader's function returns to end Run with nil, instead of standing
	// again. It is never returned by this package.
	ErrStop = errors.New("stop standing for election")

	// ErrInterrupted is the cause of the end of a leader's context after Interrupt.
	ErrInterrupted = errors.New("leadership was interrupted")

	// ErrNoLeader is returned when nobody leads at the moment.
	ErrNoLeader = errors.New("no leader")
)

var (
	errNil     = fmt.Errorf("%w: the leader latch or selector is nil or the zero value", framework.ErrNotStarted)
	errNilFunc = fmt.Errorf("%w: takeLeadership is nil", framework.ErrInvalidOption)
	errNilCtx  = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
)
