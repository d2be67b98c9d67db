package zkconn

import (
	"github.com/go-curator/curator/internal/jute"
)

// Call is one request and, when [Conn.Do] has returned without an error, its answer.
type Call struct {
	Op       jute.Op
	vital    bool // a refusal ends the connection
	answered bool

	Req jute.Record // nil for a request without a body
	Res jute.Record // what the answer is decoded into; nil when it has no body

	// Watch is set by this read when it succeeds or, for exists, when the node is
	// missing. When the call fails the watch never fires.
	Watch *Watch

	present, missing []*Watch // of SetWatches
	kept             []*Watch // that it sets again, see kept.go
	added            *Auth    // of AddAuth

	Zxid    int64 // of the answer
	Session int64 // on which the request was sent
	Err     error // what the server answered, or why there is no answer; nil for success
}

// Answered reports whether the server has answered, be it that it has refused.
func (c *Call) Answered() bool { return c.answered }

// Stat is the metadata of a node.
type Stat = jute.Stat

// readCall is a read with its request and answer.
type readCall[R any] struct {
	Call
	req jute.PathWatchRequest
	res R
}

// GetData reads a node's data and Stat. A watch that is not nil is set.
func GetData(path string, watch *Watch) *Call {
	r := &readCall[jute.GetDataResponse]{req: jute.PathWatchRequest{Path: path, Watch: watch != nil}}
	r.Call = Call{Op: jute.OpGetData, Req: &r.req, Res: &r.res, Watch: watch}
	return &r.Call
}

// Exists reads a node's Stat. A watch that is not nil is set, also on a node that is missing.
func Exists(path string, watch *Watch) *Call {
	r := &readCall[jute.StatResponse]{req: jute.PathWatchRequest{Path: path, Watch: watch != nil}}
	r.Call = Call{Op: jute.OpExists, Req: &r.req, Res: &r.res, Watch: watch}
	return &r.Call
}

// List reads the names of a node's children, and its Stat. A watch that is not nil is set.
func List(path string, watch *Watch) *Call {
	r := &readCall[jute.GetChildren2Response]{req: jute.PathWatchRequest{Path: path, Watch: watch != nil}}
	r.Call = Call{Op: jute.OpGetChildren2, Req: &r.req, Res: &r.res, Watch: watch}
	return &r.Call
}

// Sync has the server catch up with the leader before it answers.
func Sync(path string) *Call {
	return &Call{Op: jute.OpSync, Req: &jute.PathRequest{Path: path}, Res: &jute.SyncResponse{}}
}

// SetData sets the data of a node that is at a version, -1 for any.
func SetData(path string, data []byte, version int32) *Call {
	return &Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: path, Data: data, Version: version}, Res: &jute.StatResponse{}}
}

// Delete deletes a node that is at a version, -1 for any.
func Delete(path string, version int32) *Call {
	return &Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: path, Version: version}}
}

// Multi is a transaction of several operations.
func Multi(ops ...MultiOp) *Call {
	return &Call{Op: jute.OpMulti, Req: &MultiRequest{Ops: ops}, Res: &MultiResponse{}}
}

// OK tells whether the server has done what the call says.
func (c *Call) OK() bool { return c.answered && c.Refused() == nil }

// Refused returns why the call was not done: for a transaction that the server has refused the error of the operation
// that was to blame, for a call that was not answered that of Do. It is nil for a call that was done, and ahead of Do.
func (c *Call) Refused() error {
	if failed := c.Failed(); failed >= 0 {
		return c.Res.(*MultiResponse).Results[failed].Err
	}
	return c.Err
}

// Failed returns which operation of a transaction was to blame, -1 for none.
func (c *Call) Failed() int {
	if multi, ok := c.Res.(*MultiResponse); ok && c.Err == nil && c.answered {
		return multi.Failed
	}
	return -1
}

// Stat returns the Stat in the answer, nil if there is none, as for a node that is missing.
func (c *Call) Stat() *Stat {
	if !c.OK() {
		return nil
	}
	switch res := c.Res.(type) {
	case *jute.GetDataResponse:
		return &res.Stat
	case *jute.StatResponse:
		return &res.Stat
	case *jute.GetChildren2Response:
		return &res.Stat
	case *jute.Create2Response:
		return &res.Stat
	}
	return nil
}

// Data returns the data in the answer to GetData.
func (c *Call) Data() []byte {
	if res, ok := c.Res.(*jute.GetDataResponse); ok && c.OK() {
		return res.Data
	}
	return nil
}

// Names returns the names of the children in the answer to List.
func (c *Call) Names() []string {
	if res, ok := c.Res.(*jute.GetChildren2Response); ok && c.OK() {
		return res.Children
	}
	return nil
}

// Name is that of the request in the protocol.
func (c *Call) Name() string { return jute.OpName(c.Op) }

// watches yields all watches of the call.
func (c *Call) watches(yield func(*Watch) bool) {
	if c.Watch != nil && !yield(c.Watch) {
		return
	}
	for _, several := range [][]*Watch{c.present, c.missing} {
		for _, watch := range several {
			if !yield(watch) {
				return
			}
		}
	}
}
