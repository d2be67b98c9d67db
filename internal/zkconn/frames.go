package zkconn

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-curator/curator/internal/jute"
)

var errFrameSize = errors.New("a frame of a size that is not allowed")

// readFrame reads one frame, its length included. If its size is not allowed it returns the four
// bytes that should have been its length, with errFrameSize.
func readFrame(r *bufio.Reader, least, most int) ([]byte, error) {
	length, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(length))
	if n < least || n > most {
		return length, fmt.Errorf("%w: %d bytes, allowed are %d to %d", errFrameSize, n, least, most)
	}
	frame := make([]byte, 4+n)
	_, err = io.ReadFull(r, frame)
	return frame, err
}

// writeChunk is how much is written with one deadline: one for megabytes would end a connection
// that is slow and works.
const writeChunk = 64 << 10

// writeChunks writes buf, and calls next between its chunks, to set a new deadline.
func writeChunks(w io.Writer, buf []byte, next func() error) error {
	for {
		chunk := buf[:min(len(buf), writeChunk)]
		if _, err := w.Write(chunk); err != nil {
			return err
		}
		if buf = buf[len(chunk):]; len(buf) == 0 {
			return nil
		}
		if err := next(); err != nil {
			return err
		}
	}
}

// frameOf returns b with its length before it.
func frameOf(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), uint32(len(b))), b...)
}

var errNoLocalSessions = errors.New("the server has no quorum, and no sessions of its own (localSessionsEnabled)")

// refusedReads is the error of what a server without a quorum sends in place of a connect reply.
func refusedReads(frame []byte) error {
	h, err := jute.DecodeReplyHeader(frame)
	if err == nil && h.Err == jute.CodeNotReadOnly {
		return errNoLocalSessions
	}
	return fmt.Errorf("%w (a connect reply of %d bytes)", ErrNotZooKeeper, len(frame))
}
