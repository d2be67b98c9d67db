package nodes

import (
	"errors"
	"fmt"
)

// ErrPending is returned by SetData when the data is accepted but not written yet, because the
// client is cut off, or the node is missing and cannot be created now, or, with WithTakeover,
// another client has taken it over. The data is written later. If the context has ended, the
// error matches its error, too.
//
// Java: none; setData returns before the data is written.
var ErrPending = errors.New("the data is not written yet")

// errTakenOver is for a node that another client has taken over, see WithTakeover.
var errTakenOver = fmt.Errorf("%w: another client has taken the node over", ErrPending)

// ErrDeletePending is returned by Close when the deletion of the node continues in the
// background, until it succeeds or the client is closed. Call Close again to wait for it. The
// error also matches the context's error.
//
// Java: none; close does not wait.
var ErrDeletePending = errors.New("the node is deleted in the background")

// errUnsettled is returned when others change the node as fast as it is looked at.
var errUnsettled = errors.New("others change the node all the time")
