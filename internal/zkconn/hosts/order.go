package hosts

// Order decides which server is tried next, in place of lists of servers. Its methods are code of the user. They
// are called one after the other, without locks.
type Order interface {
	// Len returns the number of servers.
	Len() int
	// Next returns the server, host:port, to be tried next. again says that all of them were tried in vain since
	// Connected was called.
	Next() (server string, again bool)
	// Connected is called when a server has accepted the session.
	Connected()
}

// ordered is an Order, and what it has answered. The lock of the List guards the last two fields.
type ordered struct {
	order    Order // nil for none
	named    named
	unpaused int // attempts since the last pause
}

// named is what an Order has answered: the server that is to be tried next.
type named struct {
	target Target
	again  bool // all were tried in vain
	size   int  // of the Order
}

// ask asks for the next server. When left is closed it does not wait for the Order.
func (o *ordered) ask(left <-chan struct{}) named {
	got, err := callUserUntil(left, "WithHostProvider", func() (n named, err error) {
		n.target.Server, n.again = o.order.Next()
		n.target.Address = n.target.Server
		n.size = o.order.Len()
		return n, nil
	})
	got.target.Err = err
	return got
}

// connected tells the Order that a server has accepted the session.
func (o *ordered) connected(left <-chan struct{}) {
	_, _ = callUserUntil(left, "WithHostProvider", func() (struct{}, error) { // nothing depends on it
		o.order.Connected()
		return struct{}{}, nil
	})
}

// goesOn tells whether the next attempt belongs to a round that has begun: there is one pause for each round of an
// Order, and one for so many attempts as it has servers if it tells of no rounds.
func (o *ordered) goesOn() bool {
	if o.order == nil || o.named.again || o.unpaused >= o.named.size-1 {
		o.unpaused = 0
		return false
	}
	o.unpaused++
	return true
}

// roundEnd tells when all servers have been tried in vain. The lock of the List guards it.
type roundEnd struct {
	ended     chan struct{}
	notInVain bool // a server may accept the client in the next round
}

// inVain returns a channel that is closed when all servers have been tried in vain.
func (r *roundEnd) inVain() <-chan struct{} {
	if r.ended == nil {
		r.ended = make(chan struct{})
	}
	return r.ended
}

// end notes that all servers have been tried in vain.
func (r *roundEnd) end() {
	if r.ended != nil && !r.notInVain {
		close(r.ended)
		r.ended = nil
	}
	r.notInVain = false
}
