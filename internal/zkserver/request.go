package zkserver

import (
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
	known := tree.Knows(header.Op)
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
