package zkconn

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
)

// Call is one request and, when [Conn.Do] has returned without an error, its answer.
type Call struct {
	Op       jute.Op
	vital    bool // a refusal ends the connection
	answered bool
	plain    bool // create was sent in place of create2

	Req jute.Record // nil for a request without a body
	Res jute.Record // what the answer is decoded into; nil when it has no body

	// Watch is set by this read when it succeeds or, for exists, when the node is
	// missing. When the call fails the watch never fires.
	Watch *Watch

	present, missing []*Watch // of SetWatches
	kept             []*Watch // kept watches that it sets again, see watchTable.restore
	added            *Auth    // of AddAuth

	Zxid    int64 // of the answer
	Session int64 // on which the request was sent
	Err     error // what the server answered, or why there is no answer; nil for success
}

// Answered reports whether the server has answered, also with a refusal.
func (c *Call) Answered() bool { return c.answered }

// Auth is a credential. Formatted it shows the scheme only.
type Auth struct {
	Scheme string
	Auth   []byte
}

// Format writes the scheme, whatever the verb.
func (a Auth) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "{%s ***}", a.Scheme) }

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

// Ephemerals lists the ephemeral nodes of the session on which it is sent whose paths begin with a prefix, also those that
// the client may not read. Servers know it since 3.6.
func Ephemerals(prefix string) *Call {
	return &Call{Op: jute.OpGetEphemerals, Req: &jute.PathRequest{Path: prefix}, Res: &jute.GetChildrenResponse{}}
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

// SetWatches returns the call that sets several data watches at one moment: those of present on nodes
// that are expected to exist, those of missing on nodes that are not. If a node is not as expected, or
// has changed since seen, its watch fires before the call is answered, and is not set; other watches
// on that node from this connection fire as well. seen is the zxid of an earlier answer.
//
// The protocol has this request for clients that set their watches again after a reconnect. It is one
// request; to read the nodes would be one for each. The server does not check whether the client may
// read the nodes. But newer servers send no events of nodes that the client may not read.
func SetWatches(seen int64, present, missing []*Watch) *Call {
	return &Call{
		Op: jute.OpSetWatches,
		Req: &jute.SetWatches{
			// Servers fail on lists that are missing instead of empty.
			RelativeZxid: seen, DataWatches: paths(present), ExistWatches: paths(missing), ChildWatches: []string{},
		},
		present: present, missing: missing,
	}
}

func paths(watches []*Watch) []string {
	all := make([]string, len(watches))
	for i, watch := range watches {
		all[i] = watch.path
	}
	return all
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

// Names returns the names of the children in the answer to List, and the paths in that to Ephemerals.
func (c *Call) Names() []string {
	if !c.OK() {
		return nil
	}
	switch res := c.Res.(type) {
	case *jute.GetChildren2Response:
		return res.Children
	case *jute.GetChildrenResponse:
		return res.Children
	}
	return nil
}

// Name returns the name of the request in the protocol.
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

// reply is an answer as it came.
type reply struct {
	zxid int64
	code jute.Code
	body []byte
	rest int // bytes that were dropped
}

// decode notes what the server answered.
func (c *Call) decode(r reply) error {
	c.answered, c.Zxid, c.Err = true, r.zxid, refusal(c.Op, r.code)
	if c.Err == nil && r.rest > 0 {
		c.Err = &ReplyTooLarge{jute.OpName(c.Op), len(r.body) + r.rest}
	}
	if c.Err != nil || c.Res == nil {
		return nil //nolint:nilerr // the server's refusal is an answer
	}
	if err := c.decodeBody(r.body); err != nil {
		c.answered = false
		return fmt.Errorf("answer to %s: %w", jute.OpName(c.Op), err)
	}
	if res, ok := c.Res.(*MultiResponse); ok && res.Failed >= 0 {
		res.explain(c.Req)
	}
	return nil
}

// decodeBody decodes the body of an answer.
func (c *Call) decodeBody(body []byte) error {
	if c.plain {
		return c.decodePlain(body)
	}
	return jute.Decode(body, c.Res)
}

// decodePlain decodes the answer to create as the answer to create2, but for the times of the node.
func (c *Call) decodePlain(body []byte) error {
	var created jute.CreateResponse
	if err := jute.Decode(body, &created); err != nil {
		return err
	}
	switch res := c.Res.(type) {
	case *jute.CreateResponse:
		*res = created
	case *jute.Create2Response:
		req := c.Req.(*jute.CreateRequest)
		res.Path = created.Path
		res.Stat = jute.Stat{Czxid: c.Zxid, Mzxid: c.Zxid, Pzxid: c.Zxid, DataLength: int32(len(req.Data))}
		if req.Flags&jute.FlagEphemeral != 0 {
			res.Stat.EphemeralOwner = c.Session
		}
	}
	return nil
}

// MultiOp is one operation of a multi: create2, createContainer, delete, setData or check.
type MultiOp struct {
	Op  jute.Op
	Req jute.Record
}

// CreateOpenOp creates a persistent node without data that everybody may do everything with.
func CreateOpenOp(path string) MultiOp {
	acl := []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"}}}
	return MultiOp{jute.OpCreate, &jute.CreateRequest{Path: path, ACL: acl}}
}

// DeleteOp deletes a node that is at a version, -1 for any.
func DeleteOp(path string, version int32) MultiOp {
	return MultiOp{jute.OpDelete, &jute.DeleteRequest{Path: path, Version: version}}
}

// CheckOp tests that a node is there, at a version, -1 for any.
func CheckOp(path string, version int32) MultiOp {
	return MultiOp{jute.OpCheck, &jute.CheckVersionRequest{Path: path, Version: version}}
}

// MultiResult is the outcome of one operation of a multi.
type MultiResult struct {
	Path string // of a create
	Stat jute.Stat
	Err  error // in a multi that failed: of the operation that was to blame, and of those behind it
}

// MultiRequest is the body of a multi.
type MultiRequest struct{ Ops []MultiOp }

var _ jute.Record = (*MultiRequest)(nil)

// Append appends the request's bytes to b.
func (r *MultiRequest) Append(b []byte) []byte {
	for _, op := range r.Ops {
		header := jute.MultiHeader{Type: op.Op, Err: -1}
		b = op.Req.Append(header.Append(b))
	}
	end := jute.MultiHeader{Type: -1, Done: true, Err: -1}
	return end.Append(b)
}

// Decode is not needed by a client: it reads nothing.
func (r *MultiRequest) Decode(*jute.Decoder) {}

// MultiResponse is the answer to a multi.
type MultiResponse struct {
	Results []MultiResult
	// Failed is the index of the operation that was to blame, -1 if all were applied.
	Failed int
}

var _ jute.Record = (*MultiResponse)(nil)

// Append is not needed by a client: it adds nothing.
func (r *MultiResponse) Append(b []byte) []byte { return b }

// Decode reads the results.
func (r *MultiResponse) Decode(d *jute.Decoder) {
	r.Failed = -1
	for d.Err() == nil {
		var header jute.MultiHeader
		header.Decode(d)
		if header.Done || d.Err() != nil {
			return
		}
		r.Results = append(r.Results, r.result(header.Type, d))
	}
}

// explain says what the operation to blame needs, if the server does not know it.
func (r *MultiResponse) explain(request jute.Record) {
	req, ok := request.(*MultiRequest)
	if failed := &r.Results[r.Failed]; ok && r.Failed < len(req.Ops) && errors.Is(failed.Err, ErrUnimplemented) {
		failed.Err = refusal(req.Ops[r.Failed].Op, jute.CodeUnimplemented)
	}
}

func (r *MultiResponse) result(op jute.Op, d *jute.Decoder) (result MultiResult) {
	switch op {
	case jute.OpCreate:
		result.Path = d.String()
	case jute.OpCreate2:
		var created jute.Create2Response
		created.Decode(d)
		result.Path, result.Stat = created.Path, created.Stat
	case jute.OpSetData:
		result.Stat.Decode(d)
	case jute.OpDelete, jute.OpCheck:
	case jute.OpError:
		// The operations ahead of the failed one have code 0 although nothing was
		// applied, those behind it say that they were not tried.
		code := d.Int32()
		result.Err = codeError(code)
		if r.Failed < 0 && code != jute.CodeOK {
			r.Failed = len(r.Results)
		}
	default:
		d.Fail(fmt.Sprintf("result of operation %d in a multi", op))
	}
	return result
}
