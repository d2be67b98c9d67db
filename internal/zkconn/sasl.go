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

// authenticate proves to the server of m who the client is, before anything else is sent on the
// connection. It has what is left of the handshake's time. An error ends the connection. One that matches
// ErrAuthFailed is a refusal if the server has said something before, and otherwise it ends all attempts.
func (c *Conn) authenticate(m *muxConn) error {
	c.reached(m)
	if c.cfg.SASL == nil {
		return nil
	}
	name, heard, err := c.converse(m)
	if name != "" && err != nil {
		err = fmt.Errorf("SASL %s: %w", name, err)
	}
	switch {
	case err == nil, !errors.Is(err, ErrAuthFailed):
		return err
	case heard:
		return m.refuse(err)
	}
	c.credentialsRejected(fmt.Errorf("%s: %w", m.place(), err))
	return err
}

// converse hands the tokens of the mechanism and of the server to each other. It returns the mechanism's name,
// and whether the server has answered a token.
func (c *Conn) converse(m *muxConn) (name string, heard bool, err error) {
	deadline := m.born.Add(c.handshakeTimeout())
	ctx, cancel := context.WithDeadline(c.life, deadline)
	defer cancel()
	conversation, err := c.mechanisms.begin(ctx, c.cfg.SASL, m.server)
	if err != nil {
		return "", false, err
	}
	s, err := conversation.next(ctx, m.dead) // it has its mechanism
	name = s.name
	var challenge []byte
	for err == nil {
		if s, err = conversation.hand(ctx, m.dead, challenge); err != nil || s.done && s.answer == nil {
			break
		}
		challenge, err = m.exchange(s.answer, c.cfg.MaxRequest, deadline)
		if heard = heard || err == nil || errors.Is(err, errTokenRefused); s.done {
			break
		}
	}
	return name, heard, err
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
