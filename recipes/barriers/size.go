package barriers

import (
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// checkQuantity refuses more members than the transaction that opens the barrier can name: it checks each of
// them (rule B4), and a server refuses a request that is larger than its jute.maxbuffer. Otherwise all
// members would come, and the last of them would fail.
func (p *place) checkQuantity(memberQty int) error {
	if memberQty <= 0 {
		return fmt.Errorf("%w: memberQty is %d", framework.ErrInvalidOption, memberQty)
	}
	rest, err := p.size(p.deleteOp(p.ready()), p.createReady())
	if err != nil {
		return nil //nolint:nilerr // Enter says so, too
	}
	check, err := p.size(p.checkOp(p.child(layout.NewUUID())))
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	limit := p.api.MaxRequest()
	end, _ := p.size() // of a transaction without operations
	most := (limit - xidAndType - rest) / (check - end)
	if memberQty <= most {
		return nil
	}
	return fmt.Errorf("%w: memberQty is %d, and at most %d members find room in the transaction that opens a barrier at %s, whose limit is %d bytes: see framework.WithMaxData",
		framework.ErrInvalidOption, memberQty, max(most, 0), p.path, limit)
}

// xidAndType is the size of what is ahead of a transaction in its request.
const xidAndType = 8

// fits reports whether a transaction is not too large. Beside so many members that they just find room
// there is none for the marks.
func (p *place) fits(ops []framework.Op) bool {
	size, err := p.size(ops...)
	return err == nil && size+xidAndType <= p.api.MaxRequest()
}

// size returns the size of a transaction of these operations, in bytes.
func (p *place) size(ops ...framework.Op) (int, error) {
	var request zkconn.MultiRequest
	for i := range ops {
		op := zkclient.OpOf(&ops[i])
		if op.Err != nil {
			return 0, op.Err
		}
		request.Ops = append(request.Ops, op.Multi)
	}
	return len(request.Append(nil)), nil
}
