package nodes

import "errors"

// ErrPending is returned by SetData when the data is wanted from now on but not written yet: the
// client is cut off, or the node is missing and cannot be made just now. The data is written when
// that changes. The error matches that of the context, too.
//
// Java: none; setData returns before the data is written.
var ErrPending = errors.New("the data is not written yet")

// errUnsettled is returned when others change the node as fast as it is looked at.
var errUnsettled = errors.New("others change the node all the time")
