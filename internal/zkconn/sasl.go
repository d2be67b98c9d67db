package zkconn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// errTokenRefused: a server has said that the client is not who it seems to be.
var errTokenRefused = &Error{code: jute.CodeAuthFailed, text: "refused by the server", driver: ErrAuthFailed}

// maxSASLRefusals is how many connections in a row are refused before the client gives up. A server
// may refuse a client that is right: ZooKeeper 3.8 keeps the name of the user whose DIGEST-MD5 answer
// it checks in one field for all connections (see ZOOKEEPER-4839). So of two users who log in at the
// same moment, one may be checked against the password of the other one.
const maxSASLRefusals = 3

// authenticate proves to the server of m who the client is, before anything else is sent on the
// connection. It has what is left of the handshake's time. An error that matches ErrAuthFailed
// ends all attempts, see credentialsRejected, but for the first refusals by a server. Another error
// ends this connection.
func (c *Conn) authenticate(m *muxConn) error {
	if c.cfg.SASL == nil {
		return nil
	}
	deadline := m.born.Add(c.handshakeTimeout())
	ctx, cancel := context.WithDeadline(c.life, deadline)
	defer cancel()
	conversation, err := c.mechanisms.begin(ctx, c.cfg.SASL, m.server)
	if err != nil {
		return err
	}
	s, err := conversation.next(ctx, m.dead) // it has its mechanism
	name := s.name
	var challenge []byte
	for err == nil {
		if s, err = conversation.hand(ctx, m.dead, challenge); err != nil || s.done && s.answer == nil {
			break
		}
		if challenge, err = m.exchange(s.answer, c.cfg.MaxRequest, deadline); s.done {
			break
		}
	}
	if err == nil {
		c.saslAnswered(true)
		return nil
	}
	if name != "" {
		err = fmt.Errorf("SASL %s: %w", name, err)
	}
	if errors.Is(err, ErrAuthFailed) && (!errors.Is(err, errTokenRefused) || c.saslAnswered(false)) {
		c.credentialsRejected(fromServer(m.place(), err))
	}
	return err
}

// saslAnswered takes note of a server's verdict, and reports whether the client is to give up.
func (c *Conn) saslAnswered(accepted bool) (giveUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saslRefusals++
	if accepted {
		c.saslRefusals = 0
	}
	return c.saslRefusals >= maxSASLRefusals
}

// exchange sends the client's token and returns the server's. It is for the goroutine that reads,
// before the connection is handed out: there are no other requests.
func (m *muxConn) exchange(token []byte, limit int, deadline time.Time) (challenge []byte, err error) {
	if token == nil {
		token = []byte{} // servers expect one
	}
	var res jute.SetSASLResponse
	call := &Call{Op: jute.OpSASL, Req: &jute.GetSASLRequest{Token: token}, Res: &res}
	b, err := newBatch([]*Call{call}, limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrAuthFailed) // the next token would be the same
	}
	if err := m.send(b); err != nil {
		return nil, err
	}
	if err := m.raw.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	frame, rest, err := readFrame(m.br, headerSize, maxFrame)
	if err == nil && rest > 0 {
		err = fmt.Errorf("%w: a token of more than %d bytes", errFrameSize, maxFrame)
	}
	if err != nil {
		return nil, err
	}
	header, err := jute.DecodeReplyHeader(frame[4:])
	if err != nil {
		return nil, err
	}
	if _, _, err := m.onReply(header, frame[4+headerSize:], 0); err != nil {
		return nil, err
	}
	if err := call.decode(b.replies[0]); err != nil {
		return nil, err
	}
	// A server that requires SASL answers ErrSASLRequired to a wrong password, too.
	if errors.Is(call.Err, ErrAuthFailed) || errors.Is(call.Err, ErrSASLRequired) {
		return nil, errTokenRefused
	}
	return res.Token, call.Err
}
