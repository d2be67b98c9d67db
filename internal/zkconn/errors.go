package zkconn

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-curator/curator/internal/jute"
)

// Error is an error that has a code in ZooKeeper's protocol. It unwraps to the driver's
// error where the driver has one.
type Error struct {
	code   jute.Code
	text   string
	driver error
}

// Error returns the text.
func (e *Error) Error() string { return e.text }

// Code returns the protocol's code.
func (e *Error) Code() int32 { return e.code }

// Unwrap returns the driver's error, or nil.
func (e *Error) Unwrap() error { return e.driver }

// SessionEnded tells whether the error says that the session is over.
func (e *Error) SessionEnded() bool { return e.code == jute.CodeSessionExpired }

// The errors that a server answers.
var (
	ErrNoNode                  = newError(jute.CodeNoNode, "no such node")
	ErrNodeExists              = newError(jute.CodeNodeExists, "node already exists")
	ErrNotEmpty                = newError(jute.CodeNotEmpty, "node has children")
	ErrBadVersion              = newError(jute.CodeBadVersion, "version differs")
	ErrNoChildrenForEphemerals = newError(jute.CodeNoChildrenForEphemerals, "ephemeral nodes may not have children")
	ErrInvalidACL              = newError(jute.CodeInvalidACL, "invalid acl")
	ErrNoAuth                  = newError(jute.CodeNoAuth, "not permitted")
	ErrAuthFailed              = newError(jute.CodeAuthFailed, "credentials were rejected")
	ErrSASLRequired            = newErrorLike(jute.CodeSessionClosedRequireSASLAuth, "the server serves only clients that authenticate by SASL", ErrAuthFailed)
	ErrNotReadOnly             = newError(jute.CodeNotReadOnly, "the server has no quorum and serves reads only")
	ErrNoWatcher               = newError(jute.CodeNoWatcher, "no such watch")
	ErrSessionExpired          = newError(jute.CodeSessionExpired, "session expired")
	ErrSessionMoved            = newError(jute.CodeSessionMoved, "session moved")
	ErrConnectionLoss          = newError(jute.CodeConnectionLoss, "connection lost")
	ErrOperationTimeout        = newError(jute.CodeOperationTimeout, "operation timed out at the server")
	ErrBadArguments            = newError(jute.CodeBadArguments, "the server refused the arguments")
	ErrUnimplemented           = newError(jute.CodeUnimplemented, "the server does not know the operation")
	ErrThrottled               = newError(jute.CodeThrottledOp, "the server is overloaded")
	ErrReconfigDisabled        = newError(jute.CodeReconfigDisabled, "the servers do not permit to be reconfigured")
	ErrReconfigInProgress      = newError(jute.CodeReconfigInProgress, "another reconfiguration is under way")
	ErrNewConfigNoQuorum       = newError(jute.CodeNewConfigNoQuorum, "the new members have no quorum that is up to date")
	ErrQuotaExceeded           = newError(jute.CodeQuotaExceeded, "quota exceeded")
)

// The errors that no server answers.
var (
	// ErrTooLarge: a request is larger than Config.MaxRequest, or an answer than Config.MaxReply.
	ErrTooLarge = errors.New("too large")
	// ErrNotZooKeeper is the reason why there is no connection to what is something else.
	ErrNotZooKeeper = errors.New("this does not answer as ZooKeeper does")
	ErrClosed       = &Error{text: "client closed", driver: driverClosing}
	// ErrNoServer: a call did not wait longer for a connection, see FailFast.
	ErrNoServer = &Error{text: "all servers were tried in vain", driver: driverNoServer}
)

// ErrPersistentWatch is returned when one of several watches is on a path that has a persistent
// watch, whose place it would take at the server. Nothing was sent.
var ErrPersistentWatch = errors.New("there is a persistent watch on the path")

// ReplyTooLarge is the ErrTooLarge of an answer.
type ReplyTooLarge struct {
	Op   string
	Size int // in bytes, without the header
}

// Error returns the text.
func (e *ReplyTooLarge) Error() string {
	return fmt.Sprintf("%v: the answer to %s has %d bytes", ErrTooLarge, e.Op, e.Size)
}

// Unwrap returns ErrTooLarge.
func (e *ReplyTooLarge) Unwrap() error { return ErrTooLarge }

var byCode = map[jute.Code]*Error{}

func newError(code jute.Code, text string) *Error {
	return newErrorLike(code, text, driverErrors[code])
}

// newErrorLike returns an error that unwraps to like, which may be nil.
func newErrorLike(code jute.Code, text string, like error) *Error {
	e := &Error{code, text, like}
	byCode[code] = e
	return e
}

// codeError returns the error of a reply's code, nil for success.
func codeError(code jute.Code) error {
	if code == jute.CodeOK {
		return nil
	}
	if e, ok := byCode[code]; ok {
		return e
	}
	return &Error{code: code, text: fmt.Sprintf("server error %d", code)}
}

// needs says which servers know an operation. All of those that are supported know the others.
var needs = map[jute.Op]string{
	jute.OpCreateTTL: "nodes with a time to live need ZooKeeper 3.5.4 or newer, and zookeeper.extendedTypesEnabled at the server",
	jute.OpAddWatch:  "persistent watches need ZooKeeper 3.6 or newer",
}

// refusal returns the error of the reply to an operation, nil for success.
func refusal(op jute.Op, code jute.Code) error {
	if text, known := needs[op]; known && code == jute.CodeUnimplemented {
		return &Error{code, ErrUnimplemented.text + ": " + text, ErrUnimplemented}
	}
	return codeError(code)
}

// TransportError says that a request was not answered.
type TransportError struct {
	Err    error // ErrConnectionLoss, ErrSessionExpired, ErrClosed, ErrAuthFailed, ErrNoServer, ErrThrottled or a context's error
	Detail error // what is known beyond that, or nil
	Sent   bool  // the server may have received the request, and applied it
}

// Error returns both errors' texts.
func (e *TransportError) Error() string {
	if e.Detail == nil {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Detail.Error()
}

// Unwrap returns both errors.
func (e *TransportError) Unwrap() []error {
	if e.Detail == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Detail}
}

// MaybeApplied tells whether the server may have applied the request all the same.
func (e *TransportError) MaybeApplied() bool { return e.Sent }

// refusalError is why a server serves the client nothing. It has done nothing of what was sent on the
// connection.
type refusalError struct{ error }

func (e refusalError) Unwrap() error { return e.error }

// isRefusal tells whether a connection has ended because the server serves the client nothing.
func isRefusal(err error) bool {
	_, ok := errors.AsType[refusalError](err)
	return ok
}

// fromServer says why there is no connection to server. The end of an attempt's own context
// is no context of the caller's, and what one server refuses another one may accept: neither must be found
// by errors.Is.
func fromServer(server string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, ErrAuthFailed) {
		return fmt.Errorf("%s: %s", server, err.Error())
	}
	return fmt.Errorf("%s: %w", server, err)
}

// join returns two errors as one, on one line; either may be nil.
func join(a, b error) error {
	if a == nil || b == nil {
		return errors.Join(a, b)
	}
	return fmt.Errorf("%w: %w", a, b)
}

// ctxError is the error of a request whose context ended.
func ctxError(ctx context.Context, sent bool) *TransportError {
	return &TransportError{Err: ctx.Err(), Detail: Cause(ctx), Sent: sent}
}

// Cause returns the reason why ctx has ended, as it was given to its cancel function, nil if there is none
// beside ctx.Err. It is for errors of requests, and says nothing about the request: in an errgroup it is the
// error of another one. So errors.Is and errors.As find in it what is the caller's, and ErrClosed, but no
// answer of a server and nothing that tells whether a request was applied or may be repeated.
func Cause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(ctx.Err(), cause) {
		return nil
	}
	return foreign{cause}
}

// foreign is an error that is not about the request whose error it is a part of.
type foreign struct{ cause error }

func (f foreign) Error() string { return f.cause.Error() }

func (f foreign) Is(target error) bool {
	answer, ok := target.(*Error)
	return (!ok || answer.code == jute.CodeOK) && errors.Is(f.cause, target)
}

func (f foreign) As(target any) bool {
	t := reflect.TypeOf(target).Elem()
	about := t.Kind() == reflect.Interface || t == reflect.TypeFor[*Error]() ||
		t.Implements(reflect.TypeFor[interface{ MaybeApplied() bool }]())
	return !about && errors.As(f.cause, target)
}
