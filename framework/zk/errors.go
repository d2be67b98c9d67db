package zk

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// byCode has the driver's errors for what servers answer.
func byCode(code jute.Code) error {
	switch code {
	case jute.CodeAPIError:
		return ErrAPIError
	case jute.CodeNoNode:
		return ErrNoNode
	case jute.CodeNoAuth:
		return ErrNoAuth
	case jute.CodeBadVersion:
		return ErrBadVersion
	case jute.CodeNoChildrenForEphemerals:
		return ErrNoChildrenForEphemerals
	case jute.CodeNodeExists:
		return ErrNodeExists
	case jute.CodeNotEmpty:
		return ErrNotEmpty
	case jute.CodeSessionExpired:
		return ErrSessionExpired
	case jute.CodeInvalidACL:
		return ErrInvalidACL
	case jute.CodeAuthFailed:
		return ErrAuthFailed
	case jute.CodeSessionMoved:
		return ErrSessionMoved
	case jute.CodeReconfigDisabled:
		return ErrReconfigDisabled
	case jute.CodeBadArguments:
		return ErrBadArguments
	case jute.CodeConnectionLoss:
		return ErrConnectionClosed
	}
	return fmt.Errorf("unknown error: %v", ErrCode(code))
}

// plain returns the driver's error for what a server has answered, nil for nil.
func plain(answer *zkconn.Error) error {
	if answer == nil {
		return nil
	}
	return byCode(answer.Code())
}

// asDriver returns an error of the session layer as the driver returns it: a value that can be compared.
func asDriver(err error) error {
	if err == nil {
		return nil
	}
	if lost, ok := errors.AsType[*zkconn.TransportError](err); ok {
		switch {
		case errors.Is(lost, zkconn.ErrNoServer):
			return ErrNoServer
		case errors.Is(lost.Err, zkconn.ErrSessionExpired):
			return ErrSessionExpired
		case errors.Is(lost.Err, zkconn.ErrAuthFailed):
			return ErrAuthFailed
		}
		return ErrConnectionClosed
	}
	if answer, ok := errors.AsType[*zkconn.Error](err); ok {
		if answer.Code() == jute.CodeOK { // ErrClosed
			return ErrConnectionClosed
		}
		return byCode(answer.Code())
	}
	switch {
	case errors.Is(err, zkclient.ErrInvalidPath):
		return ErrInvalidPath
	case errors.Is(err, zkconn.ErrTooLarge):
		return ErrShortBuffer
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ErrConnectionClosed
	}
	return err
}

// neverSent tells whether a connection has ended before a request was written to it. The driver sends such a
// request on the next one.
func neverSent(err error) bool {
	lost, ok := errors.AsType[*zkconn.TransportError](err)
	return ok && !lost.Sent && errors.Is(lost.Err, zkconn.ErrConnectionLoss)
}
