package framework

// signal wakes a goroutine. If it is set twice before the goroutine wakes, it wakes it once.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
