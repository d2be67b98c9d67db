package framework

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
)

// protection makes the beginnings of protected names: "_c_", a UUID, "-". The first half of all
// UUIDs of a client is the same, so that it knows its nodes by their names.
type protection struct {
	half [6]byte
	text string // how all the names begin
}

func newProtection() (p protection) {
	rand.Read(p.half[:]) // never fails
	p.text = p.prefix()[:len("_c_")+2*len(p.half)+len("-")]
	return p
}

// made reports whether a name begins as those of prefix do.
func (p protection) made(name string) bool { return strings.HasPrefix(name, p.text) }

// prefix returns a new beginning.
func (p protection) prefix() string {
	var id [16]byte
	rand.Read(id[copy(id[:], p.half[:]):]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	b := append(make([]byte, 0, len("_c_")+36+len("-")), "_c_"...)
	for _, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		b = append(hex.AppendEncode(b, part), '-')
	}
	return string(b)
}

type protectedNames struct{ all, matching []string }

// findProtected lists dir as it was at some time after the call, and returns the names
// that begin with prefix.
func findProtected(ctx context.Context, conn *zkconn.Conn, dir, prefix string) (protectedNames, int64, error) {
	var children jute.GetChildren2Response
	calls := []*zkconn.Call{
		{Op: jute.OpSync, Req: &jute.PathRequest{Path: dir}, Res: &jute.SyncResponse{}},
		{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: dir}, Res: &children},
	}
	if err := conn.Do(ctx, 0, calls...); err != nil {
		return protectedNames{}, 0, err
	}
	for _, call := range calls {
		if call.Err != nil && !errors.Is(call.Err, ErrNoNode) {
			return protectedNames{}, 0, call.Err
		}
	}
	names := protectedNames{all: children.Children}
	for _, name := range children.Children {
		if strings.HasPrefix(name, prefix) {
			names.matching = append(names.matching, name)
		}
	}
	return names, calls[1].Session, nil
}

// removeProtected deletes the nodes in dir whose names begin with prefix.
func removeProtected(ctx context.Context, conn *zkconn.Conn, dir, prefix string) error {
	names, session, err := findProtected(ctx, conn, dir, prefix)
	for _, name := range names.matching {
		call := &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: join(dir, name), Version: anyVersion}}
		if err := conn.Do(ctx, session, call); err != nil {
			return err
		}
		if call.Err != nil && !errors.Is(call.Err, ErrNoNode) {
			return call.Err
		}
	}
	return err
}

// removeLostCreates removes the nodes in dir whose names begin with prefix, in the background.
// It returns nil when the client is closed. cause is the context of what it is done for.
func (c *core) removeLostCreates(cause context.Context, dir, prefix string) *recipeapi.PendingDelete {
	if !c.beginRemoval() {
		return nil
	}
	r := &recipeapi.PendingDelete{Done: make(chan struct{})}
	op := c.background(cause, c.conn.Load(), join(dir, prefix), 1)
	go func() {
		defer c.endRemoval()
		defer close(r.Done)
		err := op.untilKnown(func(ctx context.Context, conn *zkconn.Conn) error {
			return removeProtected(ctx, conn, dir, prefix)
		})
		if err != nil {
			c.giveUp(fmt.Sprintf("remove what a lost create may have made at %s/%s", dir, prefix), err)
		}
	}()
	return r
}
