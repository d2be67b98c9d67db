package zkconn

import (
	"fmt"

	"github.com/go-curator/curator/internal/jute"
)

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
