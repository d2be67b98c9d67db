package hosts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// probeTime is how long a read or write may take whose deadline has passed.
const probeTime = time.Second

// checkDeadlines returns an error if the deadlines of a connection that a user's dialer has made
// do not work. Without them a server that falls silent would hold up everything, Close included.
// The connection is tried with deadlines that have passed, so that nothing is read or written.
// probed tells whether it has done that, which is not needed with Go's own connections.
//
// It must be called before the first request, and needs a server that does not speak first.
func checkDeadlines(ctx context.Context, conn net.Conn) (probed bool, err error) {
	beneath := beneathTLS(conn)
	switch beneath.(type) {
	case *net.TCPConn, *net.UnixConn:
		return false, nil
	}
	err = probe(ctx, beneath)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return true, ctx.Err()
	}
	return true, fmt.Errorf("WithDialer returned a connection of type %T, which does not support deadlines: %w", conn, err)
}

// beneathTLS returns the connection below TLS. A TLS connection cannot be used anymore after a write
// that has passed its deadline.
func beneathTLS(conn net.Conn) net.Conn {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		if beneath := secure.NetConn(); beneath != nil {
			return beneath
		}
	}
	return conn
}

// probe reads and writes with deadlines that have passed. A connection that the other side has ended
// meanwhile passes, because the handshake will fail.
func probe(ctx context.Context, conn net.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // ends what would last for ever
		defer close(closed)
		_ = conn.Close()
	})
	defer func() {
		if !stop() {
			<-closed
		}
	}()
	past := time.Unix(1, 0)
	for _, try := range []func(net.Conn, time.Time) error{tryRead, tryWrite} {
		switch err := try(conn, past); {
		case err == nil:
		case ctx.Err() != nil:
			return errors.New("what is read or written does not end at its deadline")
		case isClosed(err):
			return nil
		default:
			return err
		}
	}
	if err := conn.SetDeadline(time.Time{}); err != nil && !isClosed(err) {
		return fmt.Errorf("SetDeadline: %w", err)
	}
	return nil
}

func tryRead(conn net.Conn, past time.Time) error {
	if err := conn.SetReadDeadline(past); err != nil {
		return fmt.Errorf("SetReadDeadline: %w", err)
	}
	if _, err := conn.Read(make([]byte, 1)); !isTimeout(err) {
		return notInTime("read", err)
	}
	return nil
}

func tryWrite(conn net.Conn, past time.Time) error {
	if err := conn.SetWriteDeadline(past); err != nil {
		return fmt.Errorf("SetWriteDeadline: %w", err)
	}
	_, err := conn.Write(nil)
	if err == nil { // that says nothing
		_, err = conn.Write([]byte{0})
	}
	if !isTimeout(err) {
		return notInTime("write", err)
	}
	return nil
}

// notInTime is the error of a read or write that has not failed, or has failed with another error.
func notInTime(what string, err error) error {
	if err == nil {
		return fmt.Errorf("a %s succeeds after its deadline", what)
	}
	return fmt.Errorf("a %s after its deadline: %w", what, err)
}
