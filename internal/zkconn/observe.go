package zkconn

// Observer is told when connections end and begin; see [Conn.Observe].
type Observer struct{ fn func(EventType) }

// observers are those of a Conn, whose lock guards them.
type observers map[*Observer]struct{}

// tell tells all observers.
func (all observers) tell(e EventType) {
	for o := range all {
		o.fn(e)
	}
}
