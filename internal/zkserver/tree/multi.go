package tree

import "github.com/go-curator/curator/internal/jute"

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

// split reads the operations of a multi, which must be among those of bodies.
func split(d *jute.Decoder, bodies map[jute.Op]func() jute.Record) ([]operation, jute.Code) {
	var ops []operation
	for {
		var header jute.MultiHeader
		if header.Decode(d); d.Err() != nil {
			return nil, jute.CodeMarshallingError
		}
		if header.Done {
			return ops, jute.CodeOK
		}
		newBody, ok := bodies[header.Type]
		if !ok {
			return nil, jute.CodeMarshallingError
		}
		body := d.Rest()
		if newBody().Decode(d); d.Err() != nil {
			return nil, jute.CodeMarshallingError
		}
		ops = append(ops, operation{header.Type, body})
	}
}

// multi does all of its operations or none. If one fails, the answer has its code as that
// operation's result, and the reply itself is no error.
func multi(tx *txn, _ jute.Op, d *jute.Decoder) (Body, jute.Code) {
	ops, code := split(d, multiBodies)
	if code != jute.CodeOK {
		return nil, code
	}
	var done results
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

// stepCreate does a create of a multi. What it makes follows from its flags, whatever its
// operation, and only the results of containers and timed nodes have a Stat: so does
// ZooKeeper 3.8.
func (tx *txn) stepCreate(asked jute.Op, body *jute.Decoder) (jute.Op, Body, jute.Code) {
	req, code := decodeCreate(asked, body)
	if code != jute.CodeOK {
		return asked, nil, code
	}
	op := jute.OpCreate
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
	ops, code := split(r.body, multiReadBodies)
	if code != jute.CodeOK {
		if ops, code := split(&writes, multiBodies); code == jute.CodeOK && len(ops) > 0 {
			// A multi by another name: ZooKeeper sends the results so far, which are none.
			return done.end(), jute.CodeMarshallingError
		}
		return nil, code
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
		ops, _ := split(jute.NewDecoder(body), bodies)
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
