package zk

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
)

// headerSize is that of an answer, in bytes.
const headerSize = 16

// do sends a request and waits for its answer. A request that was not sent because a connection has ended goes to the
// next one: as the call that again returns, if that is not nil. The error is the driver's.
func (c *Conn) do(name, path string, call *zkconn.Call, again func() *zkconn.Call) error {
	if c.isClosed() {
		return ErrConnectionClosed
	}
	ctx, traced := c.api.Telemetry().Operation(c.bounds.next(), c.conn, telemetry.Op{
		Name: name, Path: path, Full: true, Missing: name == "exists",
	})
	tries := 1
	err := c.conn.Do(ctx, 0, call)
	for ; neverSent(err) && ctx.Err() == nil; tries++ {
		if again != nil {
			call = again()
		}
		err = c.conn.Do(ctx, 0, call)
	}
	if err == nil {
		err = call.Refused()
	}
	traced.End(tries, err)
	return c.explain(err)
}

// explain returns the driver's error. A reason that this does not have is logged.
func (c *Conn) explain(err error) error {
	if answer, ok := err.(*zkconn.Error); err == nil || ok && answer.Code() != jute.CodeOK {
		return plain(answer)
	}
	if large, ok := errors.AsType[*zkconn.ReplyTooLarge](err); ok {
		if c.own {
			c.log.printf("received packet from server with length %d, which exceeds max buffer size %d", large.Size+headerSize, c.maxReply)
		} else {
			c.log.printf("%v", large)
		}
		return ErrConnectionClosed
	}
	return asDriver(err)
}

// closedOr returns an error, and what goes with it: like the driver nothing of a call that was not answered.
func closedOr[T any](result *T, err error) (*T, error) {
	if err == ErrConnectionClosed {
		return nil, err
	}
	return result, err
}

// Get returns the data and Stat of a node.
func (c *Conn) Get(path string) ([]byte, *Stat, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, nil, err
	}
	call := zkconn.GetData(full, nil)
	err = c.do("getData", full, call, nil)
	stat, err := closedOr(statOf(call), err)
	return call.Data(), stat, err
}

// Exists tells whether a node exists, with its Stat. That of a node that is missing is not nil.
func (c *Conn) Exists(path string) (bool, *Stat, error) {
	full, err := c.path(path, false)
	if err != nil {
		return false, nil, err
	}
	call := zkconn.Exists(full, nil)
	err = c.do("exists", full, call, nil)
	stat, err := closedOr(statOf(call), err)
	if err == ErrNoNode {
		return false, stat, nil
	}
	return err == nil, stat, err
}

// Children returns the names of a node's children, and the Stat of the node.
func (c *Conn) Children(path string) ([]string, *Stat, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, nil, err
	}
	call := zkconn.List(full, nil)
	err = c.do("getChildren2", full, call, nil)
	stat, err := closedOr(statOf(call), err)
	return namesOf(call), stat, err
}

// watch returns a watch of a node, to be set by a read.
func (c *Conn) watch(full string, kind zkconn.WatchKind) *watcher {
	w := &watcher{of: &c.watchers, ch: make(chan Event, 1)}
	w.InitKept(full, kind, w.fire)
	return w
}

// read sends the read of a node with a watch. A missing node is an answer to exists, with ErrNoNode.
func (c *Conn) read(full string, kind zkconn.WatchKind, name string, of func(string, *zkconn.Watch) *zkconn.Call) (
	w *watcher, call *zkconn.Call, err error,
) {
	begin := func() *zkconn.Call {
		if w != nil {
			c.watchers.remove(w)
		}
		w = c.watch(full, kind)
		c.watchers.add(w)
		call = of(full, &w.Watch)
		return call
	}
	if err = c.do(name, full, begin(), begin); err != nil && (call.Op != jute.OpExists || err != ErrNoNode) {
		c.watchers.remove(w)
	}
	return w, call, err
}

// The three calls that set watches do it in the same way: the watch outlives the connection, and is set again on the
// next one, where it gets the event of a change that it has missed. The channel gets one event of the node, or
// EventNotWatching with ErrSessionExpired or ErrClosing when the session or the Conn ends, and is closed then.

// GetW returns the data and Stat of a node, and a channel that gets the next change of its data, or its deletion.
func (c *Conn) GetW(path string) ([]byte, *Stat, <-chan Event, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, nil, nil, err
	}
	w, call, err := c.read(full, zkconn.WatchData, "getData", zkconn.GetData)
	if err != nil {
		return nil, nil, nil, err
	}
	return call.Data(), (*Stat)(call.Stat()), w.ch, nil
}

// ExistsW tells whether a node exists, with its Stat, and returns a channel that gets its creation, the next change of its
// data, or its deletion. The Stat of a node that is missing is not nil.
func (c *Conn) ExistsW(path string) (bool, *Stat, <-chan Event, error) {
	full, err := c.path(path, false)
	if err != nil {
		return false, nil, nil, err
	}
	w, call, err := c.read(full, zkconn.WatchData, "exists", zkconn.Exists)
	switch err {
	case nil:
		return true, (*Stat)(call.Stat()), w.ch, nil
	case ErrNoNode:
		return false, &Stat{}, w.ch, nil
	default:
		return false, nil, nil, err
	}
}

// ChildrenW returns the names of a node's children, and a channel that gets the next change of these, or the deletion
// of the node.
func (c *Conn) ChildrenW(path string) ([]string, *Stat, <-chan Event, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, nil, nil, err
	}
	w, call, err := c.read(full, zkconn.WatchChildren, "getChildren2", zkconn.List)
	if err != nil {
		return nil, nil, nil, err
	}
	return namesOf(call), (*Stat)(call.Stat()), w.ch, nil
}

// Set sets the data of a node that is at a version, -1 for any.
func (c *Conn) Set(path string, data []byte, version int32) (*Stat, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, err
	}
	call := zkconn.SetData(full, data, version)
	err = c.do("setData", full, call, nil)
	return closedOr(statOf(call), err)
}

// Delete deletes a node that is at a version, -1 for any.
func (c *Conn) Delete(path string, version int32) error {
	full, err := c.path(path, false)
	if err != nil {
		return err
	}
	err = c.do("delete", full, zkconn.Delete(full, version), nil)
	return err
}

// Sync has the server catch up with the leader before it answers.
func (c *Conn) Sync(path string) (string, error) {
	full, err := c.path(path, false)
	if err != nil {
		return "", err
	}
	call := zkconn.Sync(full)
	err = c.do("sync", full, call, nil)
	return c.shown(call.Res.(*jute.SyncResponse).Path), err
}

// GetACL returns the ACL and Stat of a node.
func (c *Conn) GetACL(path string) ([]ACL, *Stat, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, nil, err
	}
	res := &jute.GetACLResponse{}
	call := &zkconn.Call{Op: jute.OpGetACL, Req: &jute.PathRequest{Path: full}, Res: res}
	err = c.do("getACL", full, call, nil)
	stat, err := closedOr((*Stat)(&res.Stat), err)
	acl := fromWire(res.ACL)
	if err == nil && acl == nil {
		acl = []ACL{}
	}
	return acl, stat, err
}

// SetACL sets the ACL of a node whose ACL is at a version, -1 for any.
func (c *Conn) SetACL(path string, acl []ACL, version int32) (*Stat, error) {
	full, err := c.path(path, false)
	if err != nil {
		return nil, err
	}
	call := &zkconn.Call{
		Op: jute.OpSetACL, Req: &jute.SetACLRequest{Path: full, ACL: toWire(acl), Version: version}, Res: &jute.StatResponse{},
	}
	err = c.do("setACL", full, call, nil)
	return closedOr(statOf(call), err)
}

// statOf returns the Stat of an answer, never nil.
func statOf(call *zkconn.Call) *Stat {
	if stat := call.Stat(); stat != nil {
		return (*Stat)(stat)
	}
	return &Stat{}
}

// namesOf returns the names in an answer, nil without one.
func namesOf(call *zkconn.Call) []string {
	names := call.Names()
	if names == nil && call.OK() {
		names = []string{}
	}
	return names
}

func toWire(acl []ACL) []jute.ACL {
	wire := make([]jute.ACL, len(acl))
	for i, a := range acl {
		wire[i] = jute.ACL{Perms: a.Perms, ID: jute.ID{Scheme: a.Scheme, ID: a.ID}}
	}
	return wire
}

func fromWire(wire []jute.ACL) []ACL {
	if wire == nil {
		return nil
	}
	acl := make([]ACL, len(wire))
	for i, a := range wire {
		acl[i] = ACL{Perms: a.Perms, Scheme: a.ID.Scheme, ID: a.ID.ID}
	}
	return acl
}

// Create creates a node, and returns its path, which for a sequential node has a number at its end. A flag with a time to
// live is refused with ErrInvalidFlags: see CreateTTL.
//
// After ErrConnectionClosed the node may be there.
func (c *Conn) Create(path string, data []byte, flags int32, acl []ACL) (string, error) {
	return c.create(path, flags, func(mode createMode, full string) (*zkconn.Call, error) {
		if mode.isTTL {
			return nil, fmt.Errorf("Create with TTL flag disallowed: %w", ErrInvalidFlags)
		}
		return createCall(jute.OpCreate, &jute.CreateRequest{Path: full, Data: data, ACL: toWire(acl), Flags: flags}), nil
	})
}

// CreateContainer creates a container: a node that the server deletes when its last child is gone. flag must be
// FlagContainer.
func (c *Conn) CreateContainer(path string, data []byte, flag int32, acl []ACL) (string, error) {
	return c.create(path, flag, func(mode createMode, full string) (*zkconn.Call, error) {
		if !mode.isContainer {
			return nil, fmt.Errorf("CreateContainer requires container flag: %w", ErrInvalidFlags)
		}
		return createCall(jute.OpCreateContainer, &jute.CreateRequest{Path: full, Data: data, ACL: toWire(acl), Flags: flag}), nil
	})
}

// CreateTTL creates a node that the server deletes when it has no children and was not changed for ttl, which counts in
// milliseconds. flag must be FlagTTL or FlagPersistentSequentialWithTTL.
func (c *Conn) CreateTTL(path string, data []byte, flag int32, acl []ACL, ttl time.Duration) (string, error) {
	return c.create(path, flag, func(mode createMode, full string) (*zkconn.Call, error) {
		if !mode.isTTL {
			return nil, fmt.Errorf("CreateTTL requires TTL flag: %w", ErrInvalidFlags)
		}
		return createCall(jute.OpCreateTTL, &jute.CreateTTLRequest{
			Path: full, Data: data, ACL: toWire(acl), Flags: flag, TTL: ttl.Milliseconds(),
		}), nil
	})
}

func createCall(op jute.Op, req jute.Record) *zkconn.Call {
	return &zkconn.Call{Op: op, Req: req, Res: &jute.CreateResponse{}} // those with a Stat have it behind the path
}

// create sends the request that make returns.
func (c *Conn) create(path string, flags int32, request func(mode createMode, full string) (*zkconn.Call, error)) (string, error) {
	mode, err := parseCreateMode(flags)
	if err != nil {
		return "", err
	}
	full, err := c.path(path, mode.isSequential)
	if err != nil {
		return "", err
	}
	call, err := request(mode, full)
	if err != nil {
		return "", err
	}
	if mode.isEphemeral {
		c.made(0, mode.isSequential)
	}
	err = c.do(jute.OpName(call.Op), full, call, nil)
	if mode.isEphemeral && call.OK() {
		c.made(call.Session, mode.isSequential)
	}
	return c.shown(call.Res.(*jute.CreateResponse).Path), err
}

// AddAuth presents a credential, on this connection and, once a server has accepted it, on later ones.
func (c *Conn) AddAuth(scheme string, auth []byte) error {
	if c.isClosed() {
		return ErrConnectionClosed
	}
	ctx, credential := c.bounds.next(), zkconn.Auth{Scheme: scheme, Auth: auth}
	err := c.conn.AddAuth(ctx, credential)
	for neverSent(err) && ctx.Err() == nil {
		err = c.conn.AddAuth(ctx, credential)
	}
	return asDriver(err)
}

// Reconfig replaces the members of the ensemble, if its configuration is of a version, -1 for any. It returns the Stat of
// the node with the new configuration.
func (c *Conn) Reconfig(members []string, version int64) (*Stat, error) {
	return c.reconfig(&jute.ReconfigRequest{NewMembers: []byte(strings.Join(members, ",")), CurConfigID: version})
}

// IncrementalReconfig adds and removes members of the ensemble, if its configuration is of a version, -1 for any. It
// returns the Stat of the node with the new configuration.
func (c *Conn) IncrementalReconfig(joining, leaving []string, version int64) (*Stat, error) {
	return c.reconfig(&jute.ReconfigRequest{
		Joining: []byte(strings.Join(joining, ",")), Leaving: []byte(strings.Join(leaving, ",")), CurConfigID: version,
	})
}

func (c *Conn) reconfig(req *jute.ReconfigRequest) (*Stat, error) {
	call := &zkconn.Call{Op: jute.OpReconfig, Req: req, Res: &jute.GetDataResponse{}}
	err := c.do("reconfig", "", call, nil)
	return statOf(call), err
}
