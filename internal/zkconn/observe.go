package zkconn

// Observer is told when connections end and begin; see [Conn.Observe].
type Observer struct{ fn func(EventType) }

// observers are those of a Conn, whose lock guards them.
type observers struct {
	all       map[*Observer]struct{}
	listeners []*Listener // replaced, never changed, but for the end
}

// Listener is told of events; see [Conn.Listen].
type Listener struct {
	fn   func(Event)
	skip int // events that happened before, and wait to be delivered; of the monitor's goroutine
}

func (l *Listener) tell(e Event) {
	if l.skip > 0 {
		l.skip--
		return
	}
	l.fn(e)
}

// tell tells all observers.
func (o *observers) tell(e EventType) {
	for o := range o.all {
		o.fn(e)
	}
}
