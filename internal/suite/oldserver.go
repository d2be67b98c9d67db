package suite

import (
	"encoding/binary"

	"github.com/go-curator/curator/internal/jute"
)

// unknown tells whether a server before 3.6 does not know what is asked for in a frame.
func unknown(frame []byte) bool {
	op := jute.Op(binary.BigEndian.Uint32(frame[8:]))
	return op == jute.OpAddWatch || op == jute.OpSetWatches2
}
