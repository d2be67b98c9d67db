package locks

import (
	"time"

	"github.com/go-curator/curator/internal/recipeapi"
)

// grantAll makes holds of all the contender's nodes, or of none.
func (c *contender) grantAll() (*hold, error) {
	if c.mates == nil {
		return c.grant(c.node)
	}
	var holds []*hold
	for _, node := range c.nodes() {
		h, err := c.grant(node)
		if err != nil {
			for _, other := range holds {
				other.withdraw(err)
			}
			return nil, err
		}
		holds = append(holds, h)
	}
	c.mates.holds = holds[:c.mates.n]
	return holds[c.mates.n], nil
}

// withdraw ends a hold that nobody has seen; its node stays.
func (h *hold) withdraw(err error) {
	h.forget()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.end(err)
	}
}

// grant makes a hold of a node, which was seen to be let in. It is ours only while its
// session is believed in: first the hook is set, then the clock is looked at, so that no
// loss slips in between.
func (c *contender) grant(node recipeapi.Created) (*hold, error) {
	if node.Owner != node.Session {
		return nil, errStartOver
	}
	h := &hold{
		in: c.in, node: node, token: node.Czxid, site: c.site, granted: time.Now(), watched: c.span,
		waited: c.vigil != nil || c.seat.waited, times: c.seat.times,
		places: map[*place]struct{}{},
	}
	if c.writer != nil {
		h.token = c.writer.token // its own would be higher than that of a writer to come
	}
	h.forget = c.in.inside.OnLoss(h.onLoss)
	granted := false
	defer func() { // also when a user's error policy panics
		if !granted {
			h.forget()
		}
	}()
	conn, err := c.in.inside.Conn()
	if err != nil {
		return nil, err
	}
	deadline, alive := conn.Deadline(node.Session)
	if !alive {
		return nil, errStartOver
	}
	s := conn.State() // while there is a connection the policy has no say
	doubt := !time.Now().Before(deadline) || !s.IsConnected() && c.in.client.ErrorPolicy().IsErrorState(s)
	if doubt || h.lost() != nil {
		return nil, errInDoubt
	}
	granted = true
	h.count()
	h.watchFrom(c)
	return h, nil
}
