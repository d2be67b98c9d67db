package zkconn

// link is the connection in use, and what is known of those before it. The lock of the Conn guards it.
type link struct {
	mux       *muxConn      // nil without a connection
	dialed    *muxConn      // the newest, which may still be in its handshake
	ready     chan struct{} // closed while there is a connection, and at the end
	before    bool          // there is or was a connection
	err       error         // why there is no connection
	refusals  refusals
	refusedBy map[string]bool // servers whose last handshake failed, unless it asked for reads alone

	detached  detached
	observers map[*Observer]struct{}
}

// detached is what is left of connections that have ended.
type detached struct {
	muxes []*muxConn // whose watches are still to be told
	kept  []*Watch   // that could not be set on the next one yet
}

// Observer is told when connections end and begin; see [Conn.Observe].
type Observer struct{ fn func(EventType) }

// use takes a connection into use.
func (l *link) use(m *muxConn) {
	l.mux, l.err, l.refusals, l.before = m, nil, refusals{}, true
	m.used = true
}

// drop takes the connection out of use. final says that there will be none.
func (l *link) drop(final bool) {
	l.mux = nil
	l.tell(WatchSuspended)
	if !final {
		l.ready = make(chan struct{})
	}
}

// tell tells all observers.
func (l *link) tell(e EventType) {
	for o := range l.observers {
		o.fn(e)
	}
}

// tellDetached tells the watches of connections that are gone. Kept ones wait for the next connection: for
// them a reset is none.
func (l *link) tellDetached(t EventType) {
	for _, w := range l.detached.muxes {
		if t == WatchReset {
			l.detached.kept = append(l.detached.kept, w.takeKept()...)
		}
		w.fireAll(t)
	}
	l.detached.muxes = nil
	if t == WatchReset {
		return
	}
	for _, w := range l.detached.kept {
		w.fire(WatchEvent{Type: t, Path: w.path})
	}
	l.detached.kept = nil
}

// keep sets the kept watches of all connections that have ended on w. They are set ahead of the
// persistent watches: servers before 3.9 have one mode for each path, the one that was asked for last.
func (l *link) keep(w *muxConn) error {
	for _, old := range l.detached.muxes {
		l.detached.kept = append(l.detached.kept, old.takeKept()...)
	}
	if err := w.sendOwn(keptCalls(l.detached.kept)); err != nil {
		return err
	}
	l.detached.kept = nil
	return nil
}

// asksForReads tells whether a connect request for a server asks for reads alone.
func (l *link) asksForReads(server string) bool { return l.refusedBy[server] }

// noteAttempt notes how an attempt at a server has ended.
func (l *link) noteAttempt(m *muxConn) {
	if l.refusedBy == nil {
		l.refusedBy = map[string]bool{}
	}
	l.refusedBy[m.server] = !m.used && !m.forReads
	if m.used && !m.readOnly {
		clear(l.refusedBy) // it has a quorum, and the others may be with it
	}
}
