package zkconn

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/hosts"
)

// headerSize is the size of a reply's header, the smallest frame after the handshake.
const headerSize = 16

var errFrameSize = errors.New("a frame of a size that is not allowed")

// readFrame reads one frame, its length included. Of one with more than most bytes it reads the
// first headerSize, and returns how many are left. If a size is not allowed at all it returns the
// bytes that should have been its length, with errFrameSize.
func readFrame(r *bufio.Reader, least, most int) (frame []byte, rest int, err error) {
	length, err := r.Peek(4)
	if err != nil {
		return nil, 0, err
	}
	n := int(int32(binary.BigEndian.Uint32(length)))
	if n < least {
		return length, 0, fmt.Errorf("%w: %d bytes, allowed are %d to %d", errFrameSize, n, least, most)
	}
	if n > most {
		n, rest = headerSize, n-headerSize
	}
	frame = make([]byte, 4+n)
	_, err = io.ReadFull(r, frame)
	return frame, rest, err
}

// discard reads n bytes and drops them. next is called between its chunks, to set a new deadline.
func discard(r *bufio.Reader, n int, next func() error) error {
	for n > 0 {
		if err := next(); err != nil {
			return err
		}
		dropped, err := r.Discard(min(n, chunk))
		if err != nil {
			return err
		}
		n -= dropped
	}
	return nil
}

// chunk is how much is read or written with one deadline: one for megabytes would end a
// connection that is slow and works.
const chunk = 64 << 10

// writeChunks writes buf, and calls next between its chunks, to set a new deadline.
func writeChunks(w io.Writer, buf []byte, next func() error) error {
	for {
		n := min(len(buf), chunk)
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		if buf = buf[n:]; len(buf) == 0 {
			return nil
		}
		if err := next(); err != nil {
			return err
		}
	}
}

// notZooKeeper is the error of an answer that begins with something else than ZooKeeper's.
func notZooKeeper(first []byte) error {
	switch hosts.Protocol(first) {
	case hosts.SpeaksHTTP:
		return fmt.Errorf("%w: it speaks HTTP", ErrNotZooKeeper)
	case hosts.SpeaksTLS:
		return fmt.Errorf("%w: it speaks TLS, which needs WithTLS", ErrNotZooKeeper)
	}
	return fmt.Errorf("%w (first bytes %q)", ErrNotZooKeeper, first)
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

// cutString takes a string off the beginning of an answer.
func cutString(answer []byte) (s, rest []byte, ok bool) {
	if len(answer) < 4 {
		return nil, nil, false
	}
	n := int(int32(binary.BigEndian.Uint32(answer)))
	if n < 0 || n > len(answer)-4 {
		return nil, nil, false
	}
	return answer[4 : 4+n], answer[4+n:], true
}
