package zk

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/internal/zkclient"
)

// CreateProtectedEphemeralSequential creates an ephemeral sequential node whose name begins with "_c_", an id and "-". If
// the answer is lost it finds the node by that, or creates another one. If that fails, too, or the Conn gives up, the
// node is deleted in the background: none is left that nobody knows of.
func (c *Conn) CreateProtectedEphemeralSequential(path string, data []byte, acl []ACL) (string, error) {
	created, err := c.createProtected(path, data, acl, zkclient.NoParents)
	if err != nil {
		return "", err
	}
	return c.shown(created.Path), nil
}

// createProtected also makes the parents that are missing, as is asked for, with the same ACL.
func (c *Conn) createProtected(path string, data []byte, acl []ACL, parents zkclient.Parents) (created zkclient.Created, err error) {
	if err := validatePath(path, true); err != nil {
		return created, err
	}
	if c.isClosed() {
		return created, ErrConnectionClosed
	}
	c.made(0, true)
	var id [16]byte
	rand.Read(id[:]) // never fails
	created, _, err = c.api.Create(c.bounds.next(), zkclient.NodeSpec{
		Path: path, Mode: zkclient.EphemeralSequential, Data: data, ACL: toWire(acl), Compressed: zkclient.Never,
		Protection: true, ProtectedBy: fmt.Sprintf("_c_%x-", id), Parents: parents, ACLOnParents: true,
	}, false)
	if err == nil {
		c.made(created.Session, true)
	}
	return created, c.explain(err)
}

// Lock is a lock for one holder at a time. Its nodes are those of the driver and of clients in other languages, and each
// waits for the one before it. A Lock must not be used by several goroutines at a time.
//
// The driver's Lock has no way to tell its holder that it is lost. Look at the channel of Connect: behind StateExpired
// the lock is lost, and here this comes before another one can have it. A mutex of package recipes/locks on
// Conn.Client tells by a context.
type Lock struct {
	c    *Conn
	path string
	acl  []ACL

	lockPath string // of our node, "" without the lock
}

// NewLock returns a lock at a path, whose nodes get an ACL. The path is for this lock alone.
func NewLock(c *Conn, path string, acl []ACL) *Lock { return &Lock{c: c, path: path, acl: acl} }

// Lock waits for the lock. See LockWithData.
func (l *Lock) Lock() error { return l.LockWithData([]byte{}) }

// LockWithData waits for the lock, with data in its node. It makes the path if that is missing. ErrDeadlock says that this
// Lock has the lock already. Behind an error it has not, and its node is deleted, in the background if it must be.
func (l *Lock) LockWithData(data []byte) error {
	if l.lockPath != "" {
		return ErrDeadlock
	}
	node, err := l.c.createProtected(l.path+"/lock-", data, l.acl, zkclient.PersistentParents)
	if err != nil {
		return err
	}
	path := l.c.shown(node.Path)
	seq, err := parseSeq(path)
	if err == nil {
		err = l.await(path, seq)
	}
	if err == nil { // the session may have ended meanwhile, without anybody's notice
		err = asDriver(l.c.conn.AwaitProof(l.c.bounds.next(), node.Session))
	}
	if err == nil && l.c.isClosed() {
		err = ErrConnectionClosed
	}
	if err != nil {
		l.c.api.Remove(l.c.api.Life(), node.Path, node.Session)
		return err
	}
	l.lockPath = path
	return nil
}

// await waits until no node is before ours.
func (l *Lock) await(path string, seq int) error {
	own := path[strings.LastIndexByte(path, '/')+1:]
	for {
		children, _, err := l.c.Children(l.path)
		if err != nil {
			return err
		}
		if !slices.Contains(children, own) {
			return ErrNoNode // somebody has deleted it, or the session has ended
		}
		before, err := l.predecessor(children, seq)
		if err != nil || before == "" {
			return err
		}
		_, _, gone, err := l.c.GetW(l.path + "/" + before)
		if err == ErrNoNode {
			continue
		}
		if err != nil {
			return err
		}
		if ev := <-gone; ev.Err != nil {
			return ev.Err
		}
	}
}

// predecessor returns the name of the node before ours, "" for none.
func (l *Lock) predecessor(children []string, seq int) (before string, err error) {
	last := 0
	for _, name := range children {
		s, err := parseSeq(name)
		if err != nil {
			return "", err
		}
		if s < seq && (before == "" || s > last) {
			before, last = name, s
		}
	}
	return before, nil
}

// parseSeq returns the number of a node. Those of kazoo have "__lock__" before it.
func parseSeq(path string) (int, error) {
	for _, before := range []string{"lock-", "__"} {
		if i := strings.LastIndex(path, before); i >= 0 {
			return strconv.Atoi(path[i+len(before):])
		}
	}
	return strconv.Atoi(path)
}

// Unlock releases the lock, or returns ErrNotLocked. Behind another error the lock may be held still: call it again. A
// node that is gone, because the session has ended, is ErrNoNode, as in the driver, and the lock is released.
func (l *Lock) Unlock() error {
	if l.lockPath == "" {
		return ErrNotLocked
	}
	err := l.c.Delete(l.lockPath, -1)
	if err == nil || err == ErrNoNode {
		l.lockPath = ""
	}
	return err
}
