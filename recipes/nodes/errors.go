package nodes

import "errors"

// ErrPending is returned by SetData when the data is wanted from now on but not written yet: the
// client is cut off, or the node is missing and cannot be made just now. The data is written when
// that changes. The error matches that of the context, too.
//
// Java: none; setData returns before the data is written.
var ErrPending = errors.New("the data is not written yet")

// ErrDeletePending is returned by Close when the deletion of the node goes on in the background,
// until it succeeds or the client is closed. Call Close again to wait for it. The error matches
// that of the context, too.
//
// Java: none; close does not wait.
var ErrDeletePending = errors.New("the node is deleted in the background")

// errUnsettled is returned when others change the node as fast as it is looked at.
var errUnsettled = errors.New("others change the node all the time")
