package tree

import "github.com/go-curator/curator/internal/jute"

// MaxReply is about how long the body of an answer may be, in bytes. Only a multiRead can
// make a longer one.
const MaxReply = 32 << 20

// request is a request being done that is no transaction.
type request struct {
	state   *State
	client  *Client
	op      jute.Op
	body    *jute.Decoder
	tooLong bool // the answer would be longer than MaxReply
}

// Body is what a reply carries behind its header; every jute.Record is one.
type Body interface {
	Append(b []byte) []byte
}

// Raw is a Body that is written as it is.
type Raw []byte

// Append appends the bytes to b.
func (r Raw) Append(b []byte) []byte { return append(b, r...) }

// record is a pointer to a T that is a jute.Record.
type record[T any] interface {
	*T
	jute.Record
}

// decode reads a request's body.
func decode[T any, P record[T]](d *jute.Decoder) (T, jute.Code) {
	var body T
	if P(&body).Decode(d); d.Err() != nil {
		return body, jute.CodeMarshallingError
	}
	return body, jute.CodeOK
}
