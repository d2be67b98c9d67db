package zk

import (
	"time"

	driver "github.com/go-zookeeper/zk"
)

// The types that are only data are the driver's, so that values cross freely.
type (
	// ACL is one entry of an access control list.
	ACL = driver.ACL
	// CheckVersionRequest is an operation of Multi: it fails if a node is not at a version.
	CheckVersionRequest = driver.CheckVersionRequest
	// CreateRequest is an operation of Multi: it creates a node.
	CreateRequest = driver.CreateRequest
	// CreateTTLRequest is a create with a time to live, in milliseconds. Multi does not take it.
	CreateTTLRequest = driver.CreateTTLRequest
	// DeleteRequest is an operation of Multi: it deletes a node that is at a version.
	DeleteRequest = driver.DeleteRequest
	// Dialer opens a network connection to a server; see WithDialer.
	Dialer = driver.Dialer
	// ErrCode is the code of an error that a server answers.
	ErrCode = driver.ErrCode
	// Event is what has happened to a node or to the session.
	Event = driver.Event
	// EventCallback is called for events; see WithEventCallback.
	EventCallback = driver.EventCallback
	// EventType is the kind of an Event.
	EventType = driver.EventType
	// HostProvider decides which server is tried next; see WithHostProvider.
	HostProvider = driver.HostProvider
	// Logger is where a Conn logs; see WithLogger.
	Logger = driver.Logger
	// Mode is that of a server: leader, follower or standalone.
	Mode = driver.Mode
	// MultiResponse is the outcome of one operation of Multi.
	MultiResponse = driver.MultiResponse
	// PathVersionRequest is a path and a version.
	PathVersionRequest = driver.PathVersionRequest
	// ServerClient is one client of a server, as FLWCons shows it.
	ServerClient = driver.ServerClient
	// ServerClients are the clients of one server, as FLWCons shows them.
	ServerClients = driver.ServerClients
	// ServerStats are the statistics of a server, as FLWSrvr shows them.
	ServerStats = driver.ServerStats
	// SetDataRequest is an operation of Multi: it sets the data of a node that is at a version.
	SetDataRequest = driver.SetDataRequest
	// Stat is the metadata of a node. Times are milliseconds since 1970.
	Stat = driver.Stat
	// State is that of the session.
	State = driver.State
)

// DefaultPort is the port of a server whose address has none.
const DefaultPort = driver.DefaultPort

// The permissions of an ACL.
const (
	PermRead   = driver.PermRead
	PermWrite  = driver.PermWrite
	PermCreate = driver.PermCreate
	PermDelete = driver.PermDelete
	PermAdmin  = driver.PermAdmin
	PermAll    = driver.PermAll
)

// The kinds of nodes that Create, CreateTTL and CreateContainer make.
const (
	FlagPersistent                  = driver.FlagPersistent
	FlagEphemeral                   = driver.FlagEphemeral
	FlagSequence                    = driver.FlagSequence
	FlagEphemeralSequential         = driver.FlagEphemeralSequential
	FlagContainer                   = driver.FlagContainer
	FlagTTL                         = driver.FlagTTL
	FlagPersistentSequentialWithTTL = driver.FlagPersistentSequentialWithTTL
)

// The modes of a server.
const (
	ModeUnknown    = driver.ModeUnknown
	ModeLeader     = driver.ModeLeader
	ModeFollower   = driver.ModeFollower
	ModeStandalone = driver.ModeStandalone
)

// The events of nodes, of the session, and of a watch that has ended.
const (
	EventNodeCreated         = driver.EventNodeCreated
	EventNodeDeleted         = driver.EventNodeDeleted
	EventNodeDataChanged     = driver.EventNodeDataChanged
	EventNodeChildrenChanged = driver.EventNodeChildrenChanged
	EventSession             = driver.EventSession
	EventNotWatching         = driver.EventNotWatching
)

// The states of a Conn. Those that Connect reports are StateConnecting, StateConnected, StateHasSession,
// StateDisconnected and StateExpired, and with a client that reads from servers without a quorum
// StateConnectedReadOnly.
const (
	StateUnknown           = driver.StateUnknown
	StateDisconnected      = driver.StateDisconnected
	StateConnecting        = driver.StateConnecting
	StateSyncConnected     = driver.StateSyncConnected
	StateAuthFailed        = driver.StateAuthFailed
	StateConnectedReadOnly = driver.StateConnectedReadOnly
	StateSaslAuthenticated = driver.StateSaslAuthenticated
	StateExpired           = driver.StateExpired
	StateConnected         = driver.StateConnected
	StateHasSession        = driver.StateHasSession
)

// The errors are the driver's own values: they can be compared.
var (
	ErrConnectionClosed        = driver.ErrConnectionClosed
	ErrUnknown                 = driver.ErrUnknown
	ErrAPIError                = driver.ErrAPIError
	ErrNoNode                  = driver.ErrNoNode
	ErrNoAuth                  = driver.ErrNoAuth
	ErrBadVersion              = driver.ErrBadVersion
	ErrNoChildrenForEphemerals = driver.ErrNoChildrenForEphemerals
	ErrNodeExists              = driver.ErrNodeExists
	ErrNotEmpty                = driver.ErrNotEmpty
	ErrSessionExpired          = driver.ErrSessionExpired
	ErrInvalidACL              = driver.ErrInvalidACL
	ErrInvalidFlags            = driver.ErrInvalidFlags
	ErrAuthFailed              = driver.ErrAuthFailed
	ErrClosing                 = driver.ErrClosing
	ErrNothing                 = driver.ErrNothing
	ErrSessionMoved            = driver.ErrSessionMoved
	ErrReconfigDisabled        = driver.ErrReconfigDisabled
	ErrBadArguments            = driver.ErrBadArguments
	ErrDeadlock                = driver.ErrDeadlock
	ErrNotLocked               = driver.ErrNotLocked
	ErrUnhandledFieldType      = driver.ErrUnhandledFieldType
	ErrPtrExpected             = driver.ErrPtrExpected
	ErrShortBuffer             = driver.ErrShortBuffer
	ErrInvalidPath             = driver.ErrInvalidPath
	ErrNoServer                = driver.ErrNoServer
)

// DefaultLogger is the logger of a Conn that is given none. It writes to package log.
var DefaultLogger = driver.DefaultLogger

// AuthACL returns an ACL for whoever has authenticated.
func AuthACL(perms int32) []ACL { return driver.AuthACL(perms) }

// WorldACL returns an ACL for everybody.
func WorldACL(perms int32) []ACL { return driver.WorldACL(perms) }

// DigestACL returns an ACL for a user with a password.
func DigestACL(perms int32, user, password string) []ACL {
	return driver.DigestACL(perms, user, password)
}

// FormatServers returns a copy of servers in which those without a port have the DefaultPort.
func FormatServers(servers []string) []string { return driver.FormatServers(servers) }

// FLWSrvr asks each server for its statistics, by the four-letter word srvr. It reports false if a server did not
// answer, or not as expected: the Error in its place says why.
func FLWSrvr(servers []string, timeout time.Duration) ([]*ServerStats, bool) {
	return driver.FLWSrvr(servers, timeout)
}

// FLWRuok asks each server whether it runs, by the four-letter word ruok.
func FLWRuok(servers []string, timeout time.Duration) []bool { return driver.FLWRuok(servers, timeout) }

// FLWCons asks each server for its clients, by the four-letter word cons. It reports false if a server did not
// answer, or not as expected: the Error in its place says why.
func FLWCons(servers []string, timeout time.Duration) ([]*ServerClients, bool) {
	return driver.FLWCons(servers, timeout)
}
