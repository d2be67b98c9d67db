package hosts

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
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

// Spoilt tells whether a handshake has failed, after that time, because the connection was tested for
// deadlines. A connection that has TLS inside and no method NetConn does not survive the test: its first
// write fails with the error of a deadline, long before the deadline. Then no more are tested.
func (d *Dialer) Spoilt(a *Attempt, err error, after, timeout time.Duration) bool {
	spoilt := a.probed && isTimeout(err) && after < timeout/3
	if spoilt {
		d.unprobed.Store(true)
	}
	return spoilt
}
