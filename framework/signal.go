package framework

// signal wakes a goroutine; what is said twice before it wakes is heard once.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
