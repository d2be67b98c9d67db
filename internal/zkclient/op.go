package zkclient

import (
	"fmt"

	"github.com/go-curator/curator/internal/zkconn"
)

// Op is one operation of a transaction.
type Op struct {
	Client     *Client // that it was made by
	Name, Path string  // "" for the zero value
	Multi      zkconn.MultiOp
	Err        error // why it cannot be committed
}

// OpHandle leads from a framework.Op, which embeds it, to its inside.
type OpHandle struct{ inside Op }

// NewOpHandle returns the handle of an operation.
func NewOpHandle(op Op) OpHandle { return OpHandle{op} }

// op is not exported, so that users of package framework cannot call it.
func (h *OpHandle) op() *Op { return &h.inside }

// OpOf returns the inside of a *framework.Op.
func OpOf[T any, P interface {
	*T
	op() *Op
}](o P) *Op {
	return o.op()
}

// Refused returns why the client refuses to commit an operation, nil if it does not. i is its place among those
// of the transaction.
func (c *Client) Refused(i int, op *Op) error {
	switch {
	case op.Name == "":
		return fmt.Errorf("%w: operation %d is the zero Op", ErrInvalidBuilder, i)
	case op.Err == nil && op.Client.Identity() != c.Identity():
		return fmt.Errorf("%w: operation %d was made by another client", ErrInvalidBuilder, i)
	}
	return op.Err
}
