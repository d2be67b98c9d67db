package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// errReaped: an ancestor was removed while the nodes below it were created, as may happen to an empty
// container at any time. It is worth another try.
var errReaped = fmt.Errorf("%w above the path", ErrNoNode)

// missingNode is a node that may be missing, and how to create it.
type missingNode struct {
	full   string
	create func() (*zkconn.Call, error)
}

// createMissing creates those of nodes that are missing, and reports whether any was. The topmost
// is the first.
func createMissing(ctx context.Context, conn *zkconn.Conn, nodes []missingNode) (made bool, err error) {
	looks := make([]*zkconn.Call, len(nodes))
	for i, node := range nodes {
		looks[i] = &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: node.full}, Res: &jute.StatResponse{}}
	}
	if err := conn.Do(ctx, 0, looks...); err != nil {
		return false, err
	}
	var creates []*zkconn.Call
	for i, look := range looks {
		if errors.Is(look.Err, ErrNoNode) {
			create, err := nodes[i].create()
			if err != nil {
				return false, err
			}
			creates = append(creates, create)
		} else if look.Err != nil {
			return false, look.Err
		}
	}
	if len(creates) == 0 {
		return false, nil
	}
	if err := conn.Do(ctx, 0, creates...); err != nil {
		return false, err
	}
	for _, create := range creates {
		switch {
		case errors.Is(create.Err, ErrNoNode):
			return true, errReaped
		case create.Err != nil && !errors.Is(create.Err, ErrNodeExists):
			return false, create.Err
		}
	}
	return true, nil
}

// createContainer creates a container without data.
func createContainer(full string, acl []jute.ACL) *zkconn.Call {
	return &zkconn.Call{
		Op:  jute.OpCreateContainer,
		Req: &jute.CreateRequest{Path: full, Data: []byte{}, ACL: acl, Flags: jute.FlagContainer},
		Res: &jute.Create2Response{},
	}
}
