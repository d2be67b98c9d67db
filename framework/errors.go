package framework

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// Errors of operations. They arrive wrapped, in an *OpError: compare with errors.Is,
// never with ==. Each unwraps to the driver's error where the driver has one. They are never
// found in the cause of a context: see OpError.
var (
	// ErrNoNode says that the node, or for a create its parent, does not exist.
	ErrNoNode error = zkconn.ErrNoNode
	// ErrNodeExists says that the node exists already.
	ErrNodeExists error = zkconn.ErrNodeExists
	// ErrNotEmpty says that a node with children cannot be deleted.
	ErrNotEmpty error = zkconn.ErrNotEmpty
	// ErrBadVersion says that the node is at another version.
	ErrBadVersion error = zkconn.ErrBadVersion
	// ErrNoChildrenForEphemerals says that the parent is ephemeral.
	ErrNoChildrenForEphemerals error = zkconn.ErrNoChildrenForEphemerals
	// ErrInvalidACL says that the server does not accept the ACL, or that a list in an option is empty or has an
	// entry that no server accepts.
	ErrInvalidACL error = zkconn.ErrInvalidACL
	// ErrNoAuth says that the node's ACL does not permit the operation.
	ErrNoAuth error = zkconn.ErrNoAuth
	// ErrAuthFailed says that all servers that could be reached rejected the client's credentials, or
	// require SASL. After that every operation fails. AddAuth returns it for its own credential alone.
	ErrAuthFailed error = zkconn.ErrAuthFailed
	// ErrNotReadOnly says that the client is connected to a server that has no quorum, which
	// refuses writes and sync; see WithReadOnly. Java: KeeperException.NotReadOnlyException.
	ErrNotReadOnly error = zkconn.ErrNotReadOnly
	// ErrNoWatcher says that there is no such watch.
	ErrNoWatcher error = zkconn.ErrNoWatcher

	// ErrUnimplemented says that the server does not know the operation: it is too old, or
	// for nodes with a time to live zookeeper.extendedTypesEnabled is not set. The error's text
	// names the release that is needed.
	ErrUnimplemented error = zkconn.ErrUnimplemented
	// ErrReconfigDisabled says that the servers do not permit reconfigurations.
	ErrReconfigDisabled error = zkconn.ErrReconfigDisabled
	// ErrReconfigInProgress says that another reconfiguration is under way.
	ErrReconfigInProgress error = zkconn.ErrReconfigInProgress
	// ErrNewConfigNoQuorum says that too few of the new members are up to date.
	ErrNewConfigNoQuorum error = zkconn.ErrNewConfigNoQuorum
	// ErrBadArguments says that the server refused the arguments.
	ErrBadArguments error = zkconn.ErrBadArguments

	// ErrRolledBack says that the operation was not applied because another operation of its
	// transaction has failed. Java: KeeperException.RuntimeInconsistencyException for
	// operations after the failed one, and no error for those before it.
	ErrRolledBack = errors.New("not applied: another operation of the transaction failed")

	// ErrConnectionLoss says that there was no answer, and the retry policy gave up. See
	// MaybeApplied.
	ErrConnectionLoss error = zkconn.ErrConnectionLoss
	// ErrSessionExpired says that the session ended. Its ephemeral nodes are deleted or will
	// be.
	ErrSessionExpired error = zkconn.ErrSessionExpired
	// ErrSessionMoved says that the session has moved to another server.
	ErrSessionMoved error = zkconn.ErrSessionMoved

	// ErrNotZooKeeper is joined with ErrConnectionLoss if the other end of the connection does
	// not answer as ZooKeeper does.
	ErrNotZooKeeper = zkconn.ErrNotZooKeeper
	// ErrTooLarge says that the client refused a request before sending it, because the server
	// would close the connection, or because the ephemeral nodes of the session would be so many
	// that servers fail when it ends: see WithJuteMaxBuffer. It is also for an answer that is
	// larger than WithMaxReply.
	ErrTooLarge = zkconn.ErrTooLarge
	// ErrInvalidPath says that the client refused the path. The text says what is wrong with
	// it.
	ErrInvalidPath = zkclient.ErrInvalidPath
	// ErrInvalidBuilder says that the steps of a chain exclude each other. The client sends
	// nothing.
	ErrInvalidBuilder = zkclient.ErrInvalidBuilder
	// ErrInvalidOption says that an option or argument of a constructor is out of range.
	ErrInvalidOption = zkclient.ErrInvalidOption

	// ErrNotStarted says that Start of the client or of a recipe was not called yet.
	ErrNotStarted = zkclient.ErrNotStarted
	// ErrAlreadyStarted says that Start was called before, and has succeeded or is under way.
	ErrAlreadyStarted = errors.New("already started")
	// ErrClosed says that the client is closed, or was closed during the operation.
	ErrClosed error = zkconn.ErrClosed
	// ErrView says that Start or Close was called on a view. Call it on the client.
	ErrView = errors.New("a view has no life of its own")
)

// OpError is the error of an operation. If the operation's context ended first, it matches ctx.Err,
// and errors.Is and errors.As find the program's own errors in it that the context had as its cause;
// but no answer of a server, and no error of another operation: they would be taken for this one's.
type OpError struct {
	// Op is the operation, as one of these words:
	//
	//   - create, delete, exists (CheckExists), getData, setData, getChildren, getACL, setACL,
	//     sync, getConfig, reconfig, addAuth: the method of Client;
	//   - addWatch, removeWatches: Client.Watches, and RemoveWatchers;
	//   - multi, batch: Client.Transaction and Client.Batch as a whole;
	//   - readMany: Client.ReadMany as a whole, when it is called wrongly; its reads have the words of theirs;
	//   - check: an operation of a transaction, and the Verify of a lock's lease;
	//   - mkdirs: Mkdirs and EnsureContainers of package framework/paths, for a path that they refuse;
	//   - connect: BlockUntilConnected.
	//
	// Operations of recipes have the word of the request that they send. Spans and metrics use
	// the same words for db.operation.name, except getChildren2 (getChildren), auth (addAuth),
	// and multi when several nodes are created or deleted in one request.
	Op       string
	Path     string
	Attempts int   // how often it was tried
	Err      error // one of the errors above, a context's error, or both

	outcome
}

// outcome says whether an operation is not to be tried again whatever its error is, and whether an earlier
// try may have been applied.
type outcome = zkclient.Outcome

// newOpError makes the user's error of a failure.
func newOpError(f zkclient.Failure) error {
	return &OpError{Op: f.Op, Path: f.Path, Attempts: f.Attempts, Err: f.Err, outcome: f.Outcome}
}

func (e *OpError) failure() zkclient.Failure { return zkclient.Failure{Err: e.Err, Outcome: e.outcome} }

// Error returns "create /a/b: node already exists (3 attempts)", or "create /a/b: no such node: the
// parent /a is missing".
func (e *OpError) Error() string {
	text := e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	text += ": " + e.Err.Error()
	if slash := strings.LastIndexByte(e.Path, '/'); e.Op == "create" && slash >= 0 && errors.Is(e.Err, ErrNoNode) {
		text += ": the parent " + cmp.Or(e.Path[:slash], "/") + " is missing"
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	return text
}

// Unwrap returns Err.
func (e *OpError) Unwrap() error { return e.Err }

// Retryable reports whether a retry policy is asked about the error.
func (e *OpError) Retryable() bool { return e.failure().Retryable() }

// MaybeApplied reports whether one of the tries may have been applied.
func (e *OpError) MaybeApplied() bool { return e.failure().MaybeApplied() }

// MaybeApplied reports whether the server may have applied the operation that failed with err,
// because the connection was lost, or ctx ended, after the operation was sent. It is false for
// error answers of the server and for operations that were never sent.
func MaybeApplied(err error) bool { return zkclient.MaybeApplied(err) }

// Retryable reports whether a client's retry policy is asked about err, that is, whether the
// connection or the session failed, and not the request. A write that may have been applied is
// still not repeated.
//
// Java: RetryPolicy.allowRetry.
func Retryable(err error) bool { return zkclient.Retryable(err) }

// noVersion is the error of a step WithVersion.
func noVersion(version int32) error {
	return fmt.Errorf("%w: WithVersion: there is no version %d", ErrInvalidBuilder, version)
}
