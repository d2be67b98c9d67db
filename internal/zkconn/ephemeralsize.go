package zkconn

import (
	"fmt"

	"github.com/go-curator/curator/internal/jute"
)

// EphemeralsTooLarge is the ErrTooLarge of a create of an ephemeral node.
type EphemeralsTooLarge struct {
	Size  int // of the session's ephemeral nodes, with those of the request
	Limit int // of the servers

	counted <-chan struct{} // closed when their number is known better; nil if that is not to be waited for
}

// Error returns why the create was refused, and what can be done.
func (e *EphemeralsTooLarge) Error() string {
	return fmt.Sprintf("%v: the paths of the session's ephemeral nodes would take %d bytes, and servers with a jute.maxbuffer of %d "+
		"may fail for good when the session ends (ZOOKEEPER-4306); delete some, spread them over several clients, "+
		"or set framework.WithJuteMaxBuffer if the servers have another limit", ErrTooLarge, e.Size, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *EphemeralsTooLarge) Unwrap() error { return ErrTooLarge }

// numberSize is the length of the number of a sequential node.
const numberSize = 10

// sizeOf returns what a path takes in the transaction that ends the session.
func sizeOf(path string) int { return 4 + len(path) }

// createSize returns what the node that a request creates will take there: zero if it creates no ephemeral one.
func createSize(req jute.Record) int {
	create, ok := req.(*jute.CreateRequest)
	switch {
	case !ok:
		return 0
	case create.Flags == jute.FlagEphemeral:
		return sizeOf(create.Path)
	case create.Flags == jute.FlagEphemeral|jute.FlagSequential:
		return sizeOf(create.Path) + numberSize
	}
	return 0
}

// ephemeralSize is createSize for all that a call creates.
func ephemeralSize(call *Call) (size int) {
	switch req := call.Req.(type) {
	case *jute.CreateRequest:
		return createSize(req)
	case *MultiRequest:
		for _, op := range req.Ops {
			size += createSize(op.Req)
		}
	}
	return size
}
