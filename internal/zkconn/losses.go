package zkconn

import "sync"

// losses are the events by which those who rely on the session are to give up: StateChanged, DeadlinePassed and
// SessionEnded. They are told before the calls end that fail because of them: a user's function that gets
// ErrConnectionLoss must find its lock lost. So tell is called before a call ends with an error.
type losses struct {
	onLoss func(Event)   // nil: nobody is told
	turn   chan struct{} // holds a token while somebody tells

	mu     sync.Mutex // is taken last
	untold []Event
}

func newLosses(onLoss func(Event)) losses {
	return losses{onLoss: onLoss, turn: make(chan struct{}, 1)}
}

// add notes an event to be told. Conn.mu is held, so that the order is that of the events.
func (l *losses) add(e Event) {
	if l.onLoss == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.untold = append(l.untold, e)
}

// tell tells of the losses that have been noted. When it returns, all of them have been told, by this goroutine
// or by another one. It is called without locks.
func (l *losses) tell() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	for _, e := range l.take() {
		l.onLoss(e)
	}
}

func (l *losses) take() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	untold := l.untold
	l.untold = nil
	return untold
}
