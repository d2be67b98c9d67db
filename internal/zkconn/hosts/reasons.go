package hosts

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// HandshakeError returns why a server has not answered a connect request, in plain words if err itself
// says little.
func HandshakeError(err error, secure bool, waited time.Duration) error {
	switch {
	case isTimeout(err):
		return fmt.Errorf("it accepts connections and does not answer, for %v now", waited.Round(time.Millisecond))
	case isClosed(err) && secure:
		return fmt.Errorf("it closes the connection without an answer: it is not serving, or has too many connections from here (%w)", err)
	case isClosed(err):
		return fmt.Errorf("it closes the connection without an answer: "+
			"it is not serving, has too many connections from here, or its port is for TLS (%w)", err)
	}
	return err
}

// tlsError says in plain words why there is no TLS, if err is an error that says little by itself.
func tlsError(err error) error {
	var other tls.RecordHeaderError
	switch {
	case errors.As(err, &other) && Protocol(other.RecordHeader[:]) == SpeaksHTTP:
		return fmt.Errorf("it does not speak TLS, it speaks HTTP (%w)", err)
	case errors.As(err, &other):
		return fmt.Errorf("it does not speak TLS (%w)", err)
	case isTimeout(err) || errors.Is(err, context.DeadlineExceeded):
		return errors.New("it accepts connections and does not answer the TLS handshake")
	case isClosed(err):
		return fmt.Errorf("it closes the connection in the TLS handshake: it does not speak TLS, or has too many connections from here (%w)", err)
	}
	return err
}

// isClosed tells whether an error says that the other side has ended the connection.
func isClosed(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// What else than ZooKeeper may answer.
const (
	SpeaksHTTP = iota + 1
	SpeaksTLS
)

// Protocol tells what an answer with these first bytes, four at least, is of; 0 is unknown.
func Protocol(first []byte) int {
	const alert, handshake = 21, 22 // types of TLS records
	switch {
	case string(first[:4]) == "HTTP":
		return SpeaksHTTP
	case (first[0] == alert || first[0] == handshake) && first[1] == 3:
		return SpeaksTLS
	}
	return 0
}

// isTimeout tells whether an error is that of a deadline.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
