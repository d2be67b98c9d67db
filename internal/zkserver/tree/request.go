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
