package hosts

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Dialer makes connections by functions of the user's.
type Dialer struct {
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Secure puts TLS on a connection to a server; nil means no TLS.
	Secure func(ctx context.Context, conn net.Conn, server string) (net.Conn, error)

	unprobed atomic.Bool // connections are not tried for deadlines, see Spoilt
}

// Connect returns a connection to the server of an attempt, to which a request can be sent. It takes no longer than
// limit. If the server was taken off the list meanwhile, the error is ErrGone.
func (d *Dialer) Connect(ctx context.Context, network string, a *Attempt, limit time.Duration) (net.Conn, error) {
	conn, err := d.connect(ctx, network, a, limit)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrGone) {
		return nil, cause
	}
	return conn, err
}

func (d *Dialer) connect(ctx context.Context, network string, a *Attempt, limit time.Duration) (net.Conn, error) {
	if a.Target.Err != nil {
		return nil, a.Target.Err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw, err := callUser("WithDialer", func() (net.Conn, error) { return d.Dial(ctx, network, a.Target.Address) })
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, errors.New("WithDialer returned neither a connection nor an error")
	}
	if !d.unprobed.Load() {
		if a.probed, err = checkDeadlines(ctx, raw); err != nil {
			_ = raw.Close() // the reason is known
			return nil, err
		}
	}
	if d.Secure == nil {
		return raw, nil
	}
	secure, err := callUser("the TLS configuration", func() (net.Conn, error) { return d.Secure(ctx, raw, a.Target.Server) })
	if err != nil {
		_ = raw.Close()
		return nil, tlsError(err)
	}
	return secure, nil
}

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
