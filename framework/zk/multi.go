package zk

import (
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// Multi does all of the operations, or none. They must be of the types *CreateRequest, *DeleteRequest, *SetDataRequest
// and *CheckVersionRequest. If one is refused the error is that of the first one, and each response has its own.
func (c *Conn) Multi(ops ...any) ([]MultiResponse, error) {
	wire := make([]zkconn.MultiOp, len(ops))
	ephemeral, place := false, false
	for i, op := range ops {
		var err error
		if wire[i], err = c.multiOp(op); err != nil {
			if err == ErrUnhandledFieldType {
				return []MultiResponse{}, err
			}
			return nil, err
		}
		create, ok := op.(*CreateRequest)
		ephemeral = ephemeral || ok && (create.Flags == FlagEphemeral || create.Flags == FlagEphemeralSequential)
		place = place || ok && create.Flags == FlagEphemeralSequential
	}
	if ephemeral {
		c.made(0, place)
	}
	call := zkconn.Multi(wire...)
	driver := c.do("multi", "", call, nil)
	if ephemeral && call.OK() {
		c.made(call.Session, place)
	}
	if driver == ErrConnectionClosed {
		return nil, driver
	}
	results := call.Res.(*zkconn.MultiResponse).Results
	responses := make([]MultiResponse, len(results))
	for i, r := range results {
		responses[i] = MultiResponse{String: r.Path, Error: asDriver(r.Err)}
		if r.Path != "" {
			responses[i].String = c.shown(r.Path)
		}
		if i >= len(ops) {
			break // the server has answered more than it was asked
		}
		if _, isSet := ops[i].(*SetDataRequest); isSet && driver == nil {
			stat := Stat(r.Stat)
			responses[i].Stat = &stat
		}
	}
	return responses, driver
}

// multiOp returns one operation as it is sent. Like the driver it leaves it to the server to refuse a path.
func (c *Conn) multiOp(op any) (none zkconn.MultiOp, err error) {
	switch op := op.(type) {
	case *CreateRequest:
		if op != nil {
			return zkconn.MultiOp{Op: jute.OpCreate, Req: &jute.CreateRequest{
				Path: c.full(op.Path, op.Flags == FlagSequence || op.Flags == FlagEphemeralSequential), Data: op.Data, ACL: toWire(op.Acl), Flags: op.Flags,
			}}, nil
		}
	case *SetDataRequest:
		if op != nil {
			return zkconn.MultiOp{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: c.full(op.Path, false), Data: op.Data, Version: op.Version}}, nil
		}
	case *DeleteRequest:
		if op != nil {
			return zkconn.DeleteOp(c.full(op.Path, false), op.Version), nil
		}
	case *CheckVersionRequest:
		if op != nil {
			return zkconn.CheckOp(c.full(op.Path, false), op.Version), nil
		}
	default:
		return none, fmt.Errorf("unknown operation type %T", op)
	}
	return none, ErrUnhandledFieldType
}
