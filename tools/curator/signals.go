package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
)

// signals are those that this process is sent.
type signals struct{ ch chan os.Signal }

// interruption is why something ended: a signal asked us to end.
type interruption struct{ signal os.Signal }

// Error names the signal.
func (i *interruption) Error() string { return i.signal.String() }

// listenSignals receives the signals that ask us to end. One that we were started to
// ignore, as by nohup, stays ignored, by CMD as well.
func listenSignals() *signals {
	s := &signals{make(chan os.Signal, 16)}
	s.add(asking)
	s.add(harmless)
	return s
}

func (s *signals) add(list []os.Signal) {
	list = slices.DeleteFunc(slices.Clone(list), signal.Ignored)
	if len(list) > 0 { // none would mean all of them
		signal.Notify(s.ch, list...)
	}
}

// addPassedOn receives also the other signals that CMD is to get.
func (s *signals) addPassedOn() { s.add(passedOn) }

func (s *signals) stop() { signal.Stop(s.ch) }

// until runs fn with a context that ends when a signal asks us to end. It returns fn's
// error, and which signal that was, if any.
func (s *signals) until(ctx context.Context, fn func(ctx context.Context) error) (*interruption, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	heard := make(chan *interruption)
	go func() {
		for {
			select {
			case sig := <-s.ch:
				if slices.Contains(asking, sig) {
					why := &interruption{sig}
					cancel(why)
					heard <- why
					return
				}
			case <-over:
				heard <- nil
				return
			}
		}
	}()
	err := fn(ctx)
	close(over)
	return <-heard, err
}
