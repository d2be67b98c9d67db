package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
)

// signals receives the signals that are sent to this process.
type signals struct{ ch chan os.Signal }

// interruption is the cause of a context that ended because a signal asked this process to end.
type interruption struct{ signal os.Signal }

// Error names the signal.
func (i *interruption) Error() string { return i.signal.String() }

// listenSignals receives the signals that ask this process to end. A signal that the process was
// started to ignore, for example by nohup, is still ignored, by CMD as well.
func listenSignals() *signals {
	s := &signals{make(chan os.Signal, 16)}
	s.add(asking)
	s.add(harmless)
	return s
}

func (s *signals) add(list []os.Signal) {
	list = slices.DeleteFunc(slices.Clone(list), signal.Ignored)
	if len(list) > 0 { // an empty list would be all signals
		signal.Notify(s.ch, list...)
	}
}

// addPassedOn receives the other signals that are passed on to CMD, too.
func (s *signals) addPassedOn() { s.add(passedOn) }

func (s *signals) stop() { signal.Stop(s.ch) }

// until runs fn with a context that ends when a signal asks this process to end. It returns that
// signal, nil if there was none, and the error of fn.
func (s *signals) until(ctx context.Context, fn func(ctx context.Context) error) (*interruption, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	returned := make(chan struct{})
	received := make(chan *interruption)
	go func() {
		for {
			select {
			case sig := <-s.ch:
				if slices.Contains(asking, sig) {
					why := &interruption{sig}
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
