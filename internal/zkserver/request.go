package zkserver

import (
	"crypto/rand"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// receive does what a frame asks. It is false if nothing more is to be read.
func (s *Server) receive(c *conn, frame []byte) bool {
	goesOn, exceeded := s.received(c, frame)
	s.say(exceeded)
	return goesOn
}

// received is receive, and returns what is for the log.
func (s *Server) received(c *conn, frame []byte) (goesOn bool, exceeded []tree.Exceeded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.gone {
		return false, nil
	}
	s.traffic.received++
	c.stats.received++
	if c.client.Session == nil {
		s.connect(c, frame)
		return !c.gone, nil
	}
	var header jute.RequestHeader
	d := jute.NewDecoder(frame)
	if header.Decode(d); d.Err() != nil {
		s.cut(c)
		return false, nil
	}
	s.state.Touch(s.clock.now(), c.client.Session)
	body := d.Rest()
	if s.config.Keeper.drops(s.state, header.Op, body) {
		s.config.Logger.Debug("unknown request", "op", jute.OpName(header.Op), "session", c.client.Session.ID())
		s.cut(c)
		return false, nil
	}
	fate := s.rules.use(target{header.Op, c.client.Session.ID(), body})
	switch {
	case fate.failing:
		c.reply(header.Xid, s.state.Zxid(), fate.code, nil)
	case !fate.cutBefore:
		c.mute = fate.cutAfter
		if fate.delay > 0 {
			c.notBefore = time.Now().Add(fate.delay)
		}
		exceeded = s.do(c, header, body)
	}
	if fate.cutBefore || fate.cutAfter {
		s.finish(c)
	}
	return !c.gone, exceeded
}

// do does a request and answers it. It returns what is for the log.
func (s *Server) do(c *conn, header jute.RequestHeader, body []byte) []tree.Exceeded {
	switch header.Op {
	case jute.OpAuth:
		s.authenticate(c, header, jute.NewDecoder(body))
		return nil
	case jute.OpClose:
		s.closeSession(c, header)
		return nil
	}
	reply := s.state.Do(s.clock.now(), &c.client, header.Op, body)
	if reply.Silent {
		return reply.Exceeded
	}
	known := s.state.Knows(header.Op)
	if known {
		c.stats.answered(header.Op, header.Xid, reply.Zxid, reply.Code, s.clock.elapsed())
	}
	c.reply(header.Xid, reply.Zxid, reply.Code, reply.Body)
	switch {
	case reply.TooLong:
		c.end()
	case !known:
		s.finish(c)
	}
	return reply.Exceeded
}

// connect does the handshake: it starts a session, or moves one to this connection.
func (s *Server) connect(c *conn, frame []byte) {
	var req jute.ConnectRequest
	d := jute.NewDecoder(frame)
	if req.Decode(d); d.Err() != nil || req.LastZxidSeen > s.state.Zxid() && !s.config.Keeper.NewSessions {
		// A client that has seen a later zxid must not see an older tree.
		s.config.Logger.Debug("connection refused", "remote", c.net.RemoteAddr(), "seen", req.LastZxidSeen)
		s.cut(c)
		return
	}
	fate := s.rules.use(target{jute.OpCreateSession, req.SessionID, nil})
	if fate.cutBefore || fate.failing && fate.code != jute.CodeSessionExpired {
		s.finish(c)
		return
	}
	var sess *tree.Session
	if !fate.failing {
		sess = s.admitSession(req)
	}
	if fate.delay > 0 {
		c.notBefore = time.Now().Add(fate.delay)
	}
	c.mute = fate.cutAfter
	c.send(encode(grant(sess), flag(len(d.Rest()) > 0 && !s.config.Keeper.NewSessions)))
	if sess == nil || fate.cutAfter {
		s.finish(c)
		return
	}
	c.client.Session, s.holders[sess.ID()] = sess, c
	c.stats.answered(jute.OpCreateSession, 0, s.state.Zxid(), jute.CodeOK, s.clock.elapsed())
	s.claim(c, sess.ID())
	c.establishedOnce.Do(func() { close(c.established) })
}

// admitSession returns the session that a client asks for, nil if there is none. Asking
// for one cuts the connection that has it, even if the password is wrong.
func (s *Server) admitSession(req jute.ConnectRequest) *tree.Session {
	timeout, now := s.config.negotiate(time.Duration(req.TimeOut)*time.Millisecond), s.clock.now()
	if s.config.Keeper.NewSessions {
		return s.state.CreateSession(now, timeout, make([]byte, passwordLen))
	}
	if req.SessionID == 0 {
		return s.state.CreateSession(now, timeout, newPassword())
	}
	if old := s.holders[req.SessionID]; old != nil {
		s.cut(old)
	}
	return s.state.Resume(now, req.SessionID, req.Passwd, timeout)
}

// passwordLen is the length of a session's password.
const passwordLen = 16

// newPassword returns a password for a session.
func newPassword() []byte {
	password := make([]byte, passwordLen)
	rand.Read(password)
	return password
}

// grant returns the answer to a handshake: of a session that is over if sess is nil.
func grant(sess *tree.Session) *jute.ConnectResponse {
	if sess == nil {
		return &jute.ConnectResponse{Passwd: make([]byte, passwordLen)}
	}
	return &jute.ConnectResponse{
		TimeOut:   int32(sess.Timeout() / time.Millisecond),
		SessionID: sess.ID(),
		Passwd:    sess.Password(),
	}
}

// flag returns the last byte of the handshake's answer, "not read-only", which only those
// clients get that have sent such a byte themselves.
func flag(sent bool) tree.Raw {
	if sent {
		return tree.Raw{0}
	}
	return nil
}

// closeSession ends a session as its client has asked. The client gets the events of its ephemeral
// nodes before the answer.
func (s *Server) closeSession(c *conn, header jute.RequestHeader) {
	s.state.EndSession(s.clock.now(), c.client.Session)
	c.reply(header.Xid, s.state.Zxid(), jute.CodeOK, nil)
	s.finish(c)
}

// authenticate adds an identity to a connection, or ends it.
func (s *Server) authenticate(c *conn, header jute.RequestHeader, body *jute.Decoder) {
	var packet jute.AuthPacket
	if packet.Decode(body); body.Err() != nil {
		s.cut(c)
		return
	}
	var id jute.ID
	proven := false
	switch packet.Scheme {
	case tree.SchemeDigest:
		id, proven = tree.DigestID(packet.Auth), packet.Auth != nil
	case tree.SchemeIP:
		id, proven = addressID(c.net.RemoteAddr())
	}
	if !proven {
		c.reply(header.Xid, 0, jute.CodeAuthFailed, nil)
		s.finish(c)
		return
	}
	c.client.Identify(id)
	c.reply(header.Xid, 0, jute.CodeOK, nil)
}

// claim makes a connection one of a session's. The caller holds the lock.
func (s *Server) claim(c *conn, id int64) {
	c.claimed = id
	if l := s.links[id]; l != nil {
		c.link.Store(l)
	}
}

// claimResumed is claim for the session that a handshake asks to continue.
func (s *Server) claimResumed(c *conn, frame []byte) {
	var req jute.ConnectRequest
	d := jute.NewDecoder(frame)
	if req.Decode(d); d.Err() != nil || req.SessionID == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claim(c, req.SessionID)
}
