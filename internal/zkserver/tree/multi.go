package tree

import (
	"errors"

	"github.com/go-curator/curator/internal/jute"
)

// operation is one operation of a multi.
type operation struct {
	op   jute.Op
	body []byte
}

// multiBodies have the bodies of the operations that a multi can have.
var multiBodies = map[jute.Op]func() jute.Record{
	jute.OpCreate:          func() jute.Record { return &jute.CreateRequest{} },
	jute.OpCreate2:         func() jute.Record { return &jute.CreateRequest{} },
	jute.OpCreateContainer: func() jute.Record { return &jute.CreateRequest{} },
	jute.OpCreateTTL:       func() jute.Record { return &jute.CreateTTLRequest{} },
	jute.OpDelete:          func() jute.Record { return &jute.DeleteRequest{} },
	jute.OpSetData:         func() jute.Record { return &jute.SetDataRequest{} },
	jute.OpCheck:           func() jute.Record { return &jute.CheckVersionRequest{} },
}

// multiReadBodies have the bodies of the operations that a multiRead can have.
var multiReadBodies = map[jute.Op]func() jute.Record{
	jute.OpGetChildren: func() jute.Record { return &jute.PathWatchRequest{} },
	jute.OpGetData:     func() jute.Record { return &jute.PathWatchRequest{} },
}

// Why a multi cannot be read.
var (
	errUnreadable = errors.New("unreadable")
	errNullACL    = errors.New("an ACL that is null")
)

// split reads the operations of a multi as a release does. They must be among those of bodies. Reads that
// come first and are not among them are refused only after the next operation that is, or at the end.
func (r Release) split(d *jute.Decoder, bodies map[jute.Op]func() jute.Record) ([]operation, error) {
	var ops []operation
	reads := false
	for {
		var header jute.MultiHeader
		if header.Decode(d); d.Err() != nil || header.Done && reads {
			return nil, errUnreadable
		}
		if header.Done {
			return ops, nil
		}
		newBody, belongs := bodies[header.Type]
		if !belongs && len(ops) == 0 {
			newBody, reads = multiReadBodies[header.Type]
		}
		if newBody == nil {
			return nil, errUnreadable
		}
		body, record := d.Rest(), newBody()
		if record.Decode(d); d.Err() != nil {
			return nil, errUnreadable
		}
		if create, ok := record.(*jute.CreateRequest); ok && r.keepsCreate() {
			if err := checkCreate(create, body); err != nil {
				return nil, err
			}
		}
		if belongs && reads {
			return nil, errUnreadable
		}
		if belongs {
			ops = append(ops, operation{header.Type, body})
		}
	}
}

// checkCreate returns why a release that keeps a create in a multi as it was sent cannot read it.
func checkCreate(req *jute.CreateRequest, body []byte) error {
	d := jute.NewDecoder(body)
	d.Buffer() // the path
	d.Buffer() // the data
	acls := d.Int32()
	switch {
	case req.Flags < 0 || req.Flags > jute.FlagSequentialTTL:
		return errUnreadable
	case acls < 0:
		return errNullACL
	case isTTL(req.Flags):
		return errUnreadable
	}
	return nil
}

// multi does all of its operations or none. If one fails, the answer has its code as that
// operation's result, and the reply itself is no error.
func multi(tx *txn, _ jute.Op, d *jute.Decoder) (Body, jute.Code) {
	var done results
	release := tx.state.release
	ops, err := release.split(d, multiBodies)
	if tx.unread = errors.Is(err, errNullACL); tx.unread && release.answersNullACL() {
		return done.end(), jute.CodeMarshallingError
	}
	if err != nil {
		return nil, jute.CodeMarshallingError
	}
	for i, o := range ops {
		op, result, code := tx.step(o)
		if code == jute.CodeMarshallingError {
			return nil, code
		}
		if code != jute.CodeOK {
			tx.rollback()
			tx.changes = nil
			return failure(len(ops), i, code), jute.CodeOK
		}
		done.add(op, code, result)
	}
	return done.end(), jute.CodeOK
}

// step does one operation of a multi and returns the operation that its result is of.
func (tx *txn) step(o operation) (jute.Op, Body, jute.Code) {
	body := jute.NewDecoder(o.body)
	var result Body
	var code jute.Code
	switch o.op {
	case jute.OpDelete:
		result, code = deleteNode(tx, o.op, body)
	case jute.OpSetData:
		result, code = setData(tx, o.op, body)
	case jute.OpCheck:
		result, code = check(tx, o.op, body)
	default:
		return tx.stepCreate(o.op, body)
	}
	return o.op, result, code
}

// stepCreate does a create of a multi. In ZooKeeper 3.8.0 what it makes follows from its flags, whatever its
// operation, and only the results of containers and timed nodes have a Stat. In later releases a create2 and
// a createContainer stay what they are, and have one, too.
func (tx *txn) stepCreate(asked jute.Op, body *jute.Decoder) (jute.Op, Body, jute.Code) {
	req, code := decodeCreate(asked, body)
	if code != jute.CodeOK {
		return asked, nil, code
	}
	op := jute.OpCreate
	if asked != jute.OpCreateTTL && tx.state.release.keepsCreate() {
		op = asked
	}
	switch {
	case isTTL(req.Flags) && asked != jute.OpCreateTTL:
		return asked, nil, jute.CodeMarshallingError
	case isTTL(req.Flags):
		op = jute.OpCreateTTL
	case req.Flags == jute.FlagContainer:
		op = jute.OpCreateContainer
	}
	if op != jute.OpCreateTTL {
		req.TTL = -1
	}
	path, stat, code := tx.create(op, req)
	if code != jute.CodeOK {
		return asked, nil, code
	}
	if op == jute.OpCreate {
		return op, &jute.CreateResponse{Path: path}, jute.CodeOK
	}
	return jute.OpCreate2, &jute.Create2Response{Path: path, Stat: stat}, jute.CodeOK
}

// results is the body of a multi's answer.
type results struct {
	body []byte
}

// add appends the result of an operation.
func (r *results) add(op jute.Op, code jute.Code, result Body) {
	r.body = (&jute.MultiHeader{Type: op, Err: code}).Append(r.body)
	if op == jute.OpError {
		result = &jute.ErrorResponse{Err: code}
	}
	if result != nil {
		r.body = result.Append(r.body)
	}
}

// end returns the whole body.
func (r *results) end() Body {
	return Raw((&jute.MultiHeader{Type: jute.OpError, Done: true, Err: -1}).Append(r.body))
}

// failure returns the answer to a multi of n operations that the one at failed has undone.
func failure(n, failed int, code jute.Code) Body {
	var done results
	for i := range n {
		switch {
		case i < failed:
			done.add(jute.OpError, jute.CodeOK, nil)
		case i == failed:
			done.add(jute.OpError, code, nil)
		default:
			done.add(jute.OpError, jute.CodeRuntimeInconsistency, nil)
		}
	}
	return done.end()
}

// multiRead does each of its operations by itself.
func multiRead(r *request) (Body, jute.Code) {
	var done results
	writes := *r.body
	release := r.state.release
	ops, err := release.split(r.body, multiReadBodies)
	if err != nil {
		if ops, err := release.split(&writes, multiBodies); err == nil && len(ops) > 0 {
			// A multi by another name: ZooKeeper sends the results so far, which are none.
			return done.end(), jute.CodeMarshallingError
		}
		return nil, jute.CodeMarshallingError
	}
	for _, o := range ops {
		req, _ := decode[jute.PathWatchRequest](jute.NewDecoder(o.body))
		result, code := readNode(r, o.op, req.Path, false)
		op := o.op
		if code != jute.CodeOK {
			op = jute.OpError
		}
		done.add(op, code, result)
		if len(done.body) > MaxReply {
			r.tooLong = true // no client takes an answer of this length, and it could grow on
			return nil, jute.CodeSystemError
		}
	}
	return done.end(), jute.CodeOK
}

// Paths returns the paths that a request names, as the client has sent them; a multi names
// those of its operations. Those of requests that put watches back are left out.
func Paths(op jute.Op, body []byte) []string {
	switch op {
	case jute.OpMulti, jute.OpMultiRead:
		bodies := multiBodies
		if op == jute.OpMultiRead {
			bodies = multiReadBodies
		}
		ops, _ := Release380.split(jute.NewDecoder(body), bodies)
		var paths []string
		for _, o := range ops {
			paths = append(paths, Paths(o.op, o.body)...)
		}
		return paths
	case jute.OpPing, jute.OpClose, jute.OpAuth, jute.OpSetWatches, jute.OpSetWatches2, jute.OpWhoAmI,
		jute.OpCreateSession:
		return nil
	default:
		d := jute.NewDecoder(body)
		if path := d.String(); d.Err() == nil {
			return []string{path}
		}
		return nil
	}
}

// Ops returns the operations of a request: that of its header and, for a multi that can be read, those in it.
func Ops(op jute.Op, body []byte) []jute.Op {
	all := []jute.Op{op}
	if op == jute.OpMulti {
		ops, _ := Release380.split(jute.NewDecoder(body), multiBodies)
		for _, o := range ops {
			all = append(all, o.op)
		}
	}
	return all
}
