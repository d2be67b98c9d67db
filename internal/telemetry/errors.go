package telemetry

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// The values of error.type: a closed set.
const (
	typeConnectionLoss = "connection_loss"
	typeSessionExpired = "session_expired"
	typeSessionMoved   = "session_moved"
	typeNoAuth         = "no_auth"
	typeAuthFailed     = "auth_failed"
	typeNotFound       = "not_found"
	typeExists         = "exists"
	typeBadVersion     = "bad_version"
	typeTooLarge       = "too_large"
	typeTimeout        = "timeout"
	typeCanceled       = "canceled"
	typeClosed         = "closed"
	typeLost           = "lost"
	typeOther          = "_OTHER"
)

// errorTypes has the types of errors. The reasons for which an operation is given up come first, because
// they are joined with the error of its last try.
var errorTypes = []struct {
	err  error
	name string
}{
	{zkconn.ErrClosed, typeClosed},
	{context.Canceled, typeCanceled},
	{context.DeadlineExceeded, typeTimeout},
	{zkconn.ErrConnectionLoss, typeConnectionLoss},
	{zkconn.ErrSessionExpired, typeSessionExpired},
	{zkconn.ErrSessionMoved, typeSessionMoved},
	{zkconn.ErrNoAuth, typeNoAuth},
	{zkconn.ErrAuthFailed, typeAuthFailed},
	{zkconn.ErrNoNode, typeNotFound},
	{zkconn.ErrNodeExists, typeExists},
	{zkconn.ErrBadVersion, typeBadVersion},
	{zkconn.ErrTooLarge, typeTooLarge},
}

// ErrorType returns the error.type of an error, "" for none.
func ErrorType(err error) string {
	if err == nil {
		return ""
	}
	for _, t := range errorTypes {
		if errors.Is(err, t.err) {
			return t.name
		}
	}
	return typeOther
}

// answerCode returns the code that a server answered, 0 for success and for no answer.
func answerCode(err error) int32 {
	var unanswered *zkconn.TransportError
	var answered *zkconn.Error
	if errors.As(err, &unanswered) || !errors.As(err, &answered) {
		return 0
	}
	return answered.Code()
}

// returnCode returns ZooKeeper's code for the outcome of an operation.
func returnCode(err error) int32 {
	var known *zkconn.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &known) && known.Code() != 0:
		return known.Code()
	}
	return jute.CodeSystemError
}

// describe returns the text for a span's status. The text of an error may have paths, so with a path
// formatter it is only the error's type.
func (t *Telemetry) describe(err error, kind string) string {
	if t.FormatPath != nil {
		return kind
	}
	return err.Error()
}
