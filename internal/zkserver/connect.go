package zkserver

import (
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// connect does the handshake: it starts a session, or moves one to this connection.
func (s *Server) connect(c *conn, frame []byte) {
	var req jute.ConnectRequest
	d := jute.NewDecoder(frame)
	if req.Decode(d); d.Err() != nil || req.LastZxidSeen > s.store.zxid {
		// Who has seen more than there is here must not go back in time.
		s.config.Logger.Debug("connection refused", "remote", c.net.RemoteAddr(), "seen", req.LastZxidSeen)
		s.cut(c)
		return
	}
	fate := s.fateOf(target{jute.OpCreateSession, req.SessionID, nil})
	if fate.cutBefore || fate.failing && fate.code != jute.CodeSessionExpired {
		s.finish(c)
		return
	}
	var sess *session
	if !fate.failing {
		sess = s.admitSession(req)
	}
	if fate.delay > 0 {
		c.notBefore = time.Now().Add(fate.delay)
	}
	c.mute = fate.cutAfter
	c.send(encode(grant(sess), flag(len(d.Rest()) > 0)))
	if sess == nil || fate.cutAfter {
		s.finish(c)
		return
	}
	c.session, sess.conn = sess, c
	c.activity.answered(jute.OpCreateSession, 0, s.store.zxid, jute.CodeOK, s.clock.elapsed())
	s.claim(c, sess.id)
	c.establishedOnce.Do(func() { close(c.established) })
}

// admitSession returns the session that a client asks for, nil if there is none. Asking
// for one cuts the connection that has it, even if the password is wrong.
func (s *Server) admitSession(req jute.ConnectRequest) *session {
	timeout := s.config.negotiate(time.Duration(req.TimeOut) * time.Millisecond)
	if req.SessionID == 0 {
		return s.store.createSession(timeout)
	}
	if old := s.store.sessions[req.SessionID]; old != nil && old.conn != nil {
		s.cut(old.conn)
	}
	sess := s.store.resume(req.SessionID, req.Passwd)
	if sess != nil {
		sess.timeout = timeout
		s.store.touch(sess)
	}
	return sess
}

// grant returns the answer to a handshake: of a session that is over if sess is nil.
func grant(sess *session) *jute.ConnectResponse {
	if sess == nil {
		return &jute.ConnectResponse{Passwd: make([]byte, passwordLen)}
	}
	return &jute.ConnectResponse{
		TimeOut:   int32(sess.timeout / time.Millisecond),
		SessionID: sess.id,
		Passwd:    sess.password,
	}
}

// flag returns the last byte of the handshake's answer, "not read-only", which only those
// clients get that have sent such a byte themselves.
func flag(sent bool) raw {
	if sent {
		return raw{0}
	}
	return nil
}

// closeSession ends a session at its client's wish. The client's own watches hear of its
// ephemeral nodes before it gets the answer.
func (s *Server) closeSession(c *conn, header jute.RequestHeader) {
	s.store.endSession(c.session)
	c.reply(header.Xid, s.store.zxid, jute.CodeOK, nil)
	s.finish(c)
}

// authenticate adds an identity to a connection, or ends it.
func (s *Server) authenticate(c *conn, header jute.RequestHeader, body *jute.Decoder) {
	packet, code := decode[jute.AuthPacket](body)
	if code != jute.CodeOK {
		s.cut(c)
		return
	}
	var id jute.ID
	proven := false
	switch packet.Scheme {
	case schemeDigest:
		id, proven = digestID(packet.Auth), packet.Auth != nil
	case schemeIP:
		id, proven = addressID(c.net.RemoteAddr())
	}
	if !proven {
		c.reply(header.Xid, 0, jute.CodeAuthFailed, nil)
		s.finish(c)
		return
	}
	c.identify(id)
	c.reply(header.Xid, 0, jute.CodeOK, nil)
}
