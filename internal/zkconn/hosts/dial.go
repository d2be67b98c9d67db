package hosts

import (
	"context"
	"errors"
	"net"
	"time"
)

// Dialer makes connections by functions of the user's.
type Dialer struct {
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Secure puts TLS on a connection to a server; nil means no TLS.
	Secure func(ctx context.Context, conn net.Conn, server string) (net.Conn, error)
}

// Connect returns a connection to the server of an attempt, to which a request can be sent, and which has deadlines. It
// takes no longer than limit. If the server was taken off the list meanwhile, the error is ErrGone.
func (d *Dialer) Connect(ctx context.Context, a *Attempt, limit time.Duration) (net.Conn, error) {
	conn, err := d.connect(ctx, a, limit)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrGone) {
		return nil, cause
	}
	return conn, err
}

func (d *Dialer) connect(ctx context.Context, a *Attempt, limit time.Duration) (net.Conn, error) {
	if a.Target.Err != nil {
		return nil, a.Target.Err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw, err := callUser("WithDialer", func() (net.Conn, error) { return d.Dial(ctx, "tcp", a.Target.Address) })
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, errors.New("WithDialer returned neither a connection nor an error")
	}
	raw = withDeadlines(raw)
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
