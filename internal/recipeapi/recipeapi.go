// Package recipeapi gives the recipes access to package zkclient, with builders of package framework in
// place of its specs: the session layer, creates that list the queue in the same write, deletes whose
// outcome matters, and the loss of a session. For everything else they use the public API.
package recipeapi

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// ErrPanicked is the error of a call that did not return: a function of the user has panicked.
var ErrPanicked = errors.New("a panic in code of the user")

// Client is a *framework.Client as the recipes see it.
type Client interface {
	// Identity is the same for a client and all its views.
	Identity() any
	// Shared returns what the recipes of a client share under key, with all its views. The
	// first call makes it by create, which must do nothing else.
	Shared(key any, create func() any) any
	// ServerPath returns the server's path for a path of the client.
	ServerPath(path string) (full string, err error)
	// ClientPath is the reverse of ServerPath.
	ClientPath(full string) string
	// Conn returns the session layer, or why there is none.
	Conn() (*zkconn.Conn, error)
	// Retry tries fn, which may be repeated, under the client's retry policy.
	Retry(ctx context.Context, op, path string, fn func(ctx context.Context, conn *zkconn.Conn) error) error
	// Pause waits for as long as the client's retry policy wants after err, the answer to a
	// request. It returns err, as Retry does, if the policy gives up.
	Pause(ctx context.Context, op, path string, err error) error
	// Decompress passes a node's data through the client's compression provider. path is the
	// client's.
	Decompress(path string, data []byte) ([]byte, error)
	// CreateAndList makes a node by a framework.CreateBuilder of this client, with protection,
	// ephemeral and sequential, and lists its siblings, in one write; the node is not
	// sequential if path has its number already. When it fails, left is what goes on in
	// the background to remove what it may have made; it may be nil.
	CreateAndList(ctx context.Context, builder any, path string, sequential bool) (created Created, left *PendingDelete, err error)
	// Create is CreateAndList of a sequential node without the list.
	Create(ctx context.Context, builder any, path string) (created Created, left *PendingDelete, err error)
	// CreateGroup is CreateAndList for several sequential nodes, all or none,
	// whose numbers follow each other.
	CreateGroup(ctx context.Context, builder any, path string, n int) (created []Created, left []*PendingDelete, err error)
	// NodeRequest returns the request that a framework.CreateBuilder of this client sends for a
	// node whose name is final: without protection, and not sequential.
	NodeRequest(builder any, path string) (NodeRequest, error)
	// CreateCall returns the request that creates a node by a framework.CreateBuilder of this
	// client, for a recipe that sends it together with others. It is sent as it is: no parents are
	// made, and it is not repeated. full is the server's path.
	CreateCall(builder any, path string) (full string, call *zkconn.Call, err error)
	// SetData sets the data of a node that is at a version, which may be any but -1: versions of
	// nodes that are written more than 2^31 times are negative. The data is not compressed. It is
	// not repeated when the reply is lost.
	SetData(ctx context.Context, path string, data []byte, version int32) (jute.Stat, error)
	// Made reports whether a node with this name, which has protection, was made by this client. In
	// very rare cases the node is another client's.
	Made(name string) bool
	// Remove deletes an ephemeral node of session for certain, in the background, as a part
	// of ctx's trace; its end does not matter, and it may be nil. Remove returns nil when the
	// client is closed.
	Remove(ctx context.Context, full string, session int64) *PendingDelete
	// Release is Remove with something else in the same transaction, as far as the server
	// lets it. The first request is queued before Release returns, if there is a connection: the
	// requests of several calls leave in their order.
	Release(ctx context.Context, full string, session int64, with Release) *PendingDelete
	// MaxRequest is the largest request that the client sends, in bytes.
	MaxRequest() int
	// Request returns the request of op, a framework.Op of this client, as a transaction sends
	// it.
	Request(op any) (zkconn.MultiOp, error)
	// RefusedOp returns a framework.Op that every commit refuses with err: for a recipe that makes
	// operations and cannot make one.
	RefusedOp(op, path string, err error) any
	// Data returns the data of a node as framework.GetDataBuilder does, decompressed if the
	// client compresses everything.
	Data(full string, data []byte) ([]byte, error)
	// OnSession returns a copy of ctx for transactions and reads that are sent on this session or
	// not at all. Then their error matches framework.ErrSessionExpired. A server without a quorum
	// gets none of them.
	OnSession(ctx context.Context, session int64) context.Context
	// OnLoss calls fn when a session is lost or in doubt, before a call of the client fails because of that.
	// It may be called on any goroutine, and must neither block nor wait for a call. Those that were set
	// earlier are called first. node is the path of the lock's node that is held, or "". remove does not
	// wait for a call that is running.
	OnLoss(node string, fn func(Loss)) (remove func())
	// SessionEnd returns how a session of this client has ended, if that is certain. While the client is
	// being closed it waits for the end of that, but not longer than ctx. It must not be called by what Close
	// waits for: a function of Go.
	SessionEnd(ctx context.Context, session int64) zkconn.SessionEnd
	// Held returns the nodes of OnLoss, sorted: one for every lock that is held.
	Held() []string
	// Log runs fn, which ends in a user's code such as a log handler, behind what was
	// reported before. It does not wait.
	Log(fn func())
	// Unhandled tells the listeners of framework.Client.UnhandledErrorListenable of an error that no
	// caller receives.
	Unhandled(what string, err error)
	// Callback runs fn, which is a user's code, on a goroutine of its own, which Close waits
	// for as for those of watchers.
	Callback(fn func()) bool
	// Telemetry makes spans and metrics; it may be nil.
	Telemetry() *telemetry.Telemetry
	// Go runs fn in the background until it returns; ctx ends with the client. It
	// reports false when the client is closed.
	Go(fn func(ctx context.Context)) bool
}

// NodeRequest is the create of a node in the protocol's terms, for recipes that send it together
// with other requests.
type NodeRequest struct {
	Path string // the server's
	Data []byte // as it is stored
	Op   jute.Op
	Req  jute.Record
	// Parents makes the ancestors that are missing, as the builder asks for them. It returns
	// ErrNoNode if one stays missing, because the builder does not ask for parents.
	Parents func(ctx context.Context, conn *zkconn.Conn) error
}

// Release is what goes with the delete of a holder's node. Paths are the server's, "" for none.
type Release struct {
	Marker        string // is created and deleted, so that its watches fire
	HolderRecord  string // is deleted, if it has
	RecordVersion int32  // this version
	// NameShared says that another session may make a node of the same name when this one is
	// over. Nothing is deleted then: the server removes the node with the session.
	NameShared bool
}

// Created is a node that CreateAndList made.
type Created = zkclient.Created

// PendingDelete is a delete that goes on until its outcome is known.
type PendingDelete = zkclient.Removal

// RemovalOutcome is how a PendingDelete ended.
type RemovalOutcome = zkclient.RemovalOutcome

// Loss says that a session can no longer be relied on.
type Loss = zkclient.Loss

// LossKind is why.
type LossKind = zkclient.LossKind

// The outcomes of a PendingDelete, and the kinds of losses.
const (
	RemovalConfirmed = zkclient.RemovalConfirmed
	RemovalMissing   = zkclient.RemovalMissing
	RemovalGivenUp   = zkclient.RemovalGivenUp

	LossSuspended = zkclient.LossSuspended
	LossDeadline  = zkclient.LossDeadline
	LossSession   = zkclient.LossSession
	LossClosed    = zkclient.LossClosed
	LossDeleted   = zkclient.LossDeleted
)

// Of returns a client's inside. Package framework sets it.
var Of func(client any) Client
