package console

import (
	"context"
	"os"
	"os/signal"
	"slices"
)

// Signals receives the signals that are sent to this process.
type Signals struct {
	C chan os.Signal // those that were received
}

// Interruption is the cause of a context that ended because a signal asked this process to end.
type Interruption struct{ Signal os.Signal }

// Error names the signal.
func (i *Interruption) Error() string { return i.Signal.String() }

// Listen receives the signals that ask this process to end. A signal that the process was
// started to ignore, for example by nohup, is still ignored, by CMD as well.
func Listen() *Signals {
	s := &Signals{make(chan os.Signal, 16)}
	s.add(asking)
	s.add(harmless)
	return s
}

func (s *Signals) add(list []os.Signal) {
	list = slices.DeleteFunc(slices.Clone(list), signal.Ignored)
	if len(list) > 0 { // an empty list would be all signals
		signal.Notify(s.C, list...)
	}
}

// AddPassedOn receives the other signals that are passed on to CMD, too.
func (s *Signals) AddPassedOn() { s.add(passedOn) }

// Stop ends the receiving of signals.
func (s *Signals) Stop() { signal.Stop(s.C) }

// Until runs fn with a context that ends when a signal asks this process to end. It returns that
// signal, nil if there was none, and the error of fn.
func (s *Signals) Until(ctx context.Context, fn func(ctx context.Context) error) (*Interruption, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	returned := make(chan struct{})
	received := make(chan *Interruption)
	go func() {
		for {
			select {
			case sig := <-s.C:
				if slices.Contains(asking, sig) {
					why := &Interruption{sig}
					cancel(why)
					received <- why
					return
				}
			case <-returned:
				received <- nil
				return
			}
		}
	}()
	err := fn(ctx)
	close(returned)
	return <-received, err
}
