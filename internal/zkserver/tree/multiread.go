package tree

import "github.com/go-curator/curator/internal/jute"

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
