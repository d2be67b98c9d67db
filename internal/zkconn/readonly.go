package zkconn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn/hosts"
)

// A server that has lost its quorum may serve reads, on connections that ask for it. Such a connection
// has a session of its own, which only that server knows. Conn.session stays the quorum's session,
// which no answer proves meanwhile. It is resumed when there is a quorum again, if it is not over by
// then. A server without a quorum refuses to resume it, and does not say why. So every server is asked
// for the session first, and for reads alone if that has failed.

var (
	errQuorumFound = errors.New("the read-only connection is left for a server with a quorum")
	errQuorumBack  = errors.New("the server has a quorum again; the session is to be resumed")
)

// checkReads returns why a connection cannot be used, if one of the two sides wants it for reads
// alone. For a connection for reads alone it starts the search for a quorum. c.mu is held.
func (c *Conn) checkReads(m *muxConn, r jute.ConnectResponse) error {
	switch live := c.session.live(); {
	case m.readOnly && !m.forReads:
		return fmt.Errorf("%w (a read-only connection that was not asked for)", ErrNotZooKeeper)
	case m.forReads && !m.readOnly && live:
		return errQuorumBack // the new session that it has made ends by its timeout
	case m.readOnly:
		c.workers.Go(func() { c.seekQuorum(m, r) })
	}
	return nil
}

// The pause between two looks at all servers, doubled from the first to the last.
const (
	firstSeekPause = 100 * time.Millisecond
	lastSeekPause  = 2 * time.Second
)

// seekQuorum looks for a server with a quorum as long as m is in use, and ends m if there is one.
func (c *Conn) seekQuorum(m *muxConn, r jute.ConnectResponse) {
	ctx, cancel := context.WithCancel(c.life)
	defer cancel()
	c.workers.Go(func() {
		select {
		case <-m.dead:
			cancel()
		case <-ctx.Done():
		}
	})
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(firstSeekPause), backoff.WithMultiplier(2),
		backoff.WithMaxInterval(lastSeekPause), backoff.WithRandomizationFactor(0.5), backoff.WithMaxElapsedTime(0))
	for wait.For(ctx, pause.NextBackOff()) == nil {
		for _, t := range c.allTargets(ctx) {
			if c.hasQuorum(ctx, t, r) == nil {
				c.mu.Lock()
				clear(c.link.refusedBy)
				c.mu.Unlock()
				m.fail(errQuorumFound)
				return
			}
		}
	}
}

// allTargets returns all servers, with the addresses that their names have now.
func (c *Conn) allTargets(ctx context.Context) []hosts.Target {
	ctx, cancel := context.WithTimeout(ctx, c.handshakeTimeout())
	defer cancel()
	return c.hosts.Addresses(ctx)
}

// hasQuorum returns nil if a server has a quorum, and has all that this client has seen. It asks the
// server to resume the read-only session, which no quorum knows. A server with a quorum asks its
// leader, answers that it does not know the session, and makes no new one. A server without a quorum
// ends the connection.
func (c *Conn) hasQuorum(ctx context.Context, t hosts.Target, r jute.ConnectResponse) error {
	ctx, cancel := context.WithTimeout(ctx, c.handshakeTimeout())
	defer cancel()
	raw, err := c.dialer.Connect(ctx, &hosts.Attempt{Target: t}, c.handshakeTimeout())
	if err != nil {
		return err
	}
	defer raw.Close()
	// The end of ctx ends reads and writes.
	defer context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })()
	return isAnswered(raw, jute.ConnectRequest{
		LastZxidSeen: c.lastZxid.Load(), TimeOut: int32(c.cfg.SessionTimeout / time.Millisecond),
		SessionID: r.SessionID, Passwd: r.Passwd,
	})
}

// isAnswered returns nil if a connect request that does not ask for reads alone is answered.
func isAnswered(raw net.Conn, request jute.ConnectRequest) error {
	if _, err := raw.Write(frameOf(jute.AppendBool(request.Append(nil), false))); err != nil {
		return err
	}
	frame, _, err := readFrame(bufio.NewReaderSize(raw, maxHandshake), minHandshake, maxHandshake)
	if err != nil {
		return err
	}
	var answer jute.ConnectResponse
	return jute.Decode(frame[4:], &answer)
}
