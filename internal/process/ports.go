package process

import (
	"errors"
	"fmt"
)

// Ports are ports of the loopback interface for programs that cannot choose one themselves. If
// KeepsPorts they are reserved until Release: the system gives them to nobody who asks for any
// port, as a client does that connects. So a server gets its port although it listens late, like
// a ZooKeeper server that becomes the leader, or again, after a restart. Otherwise the ports are
// only free at the moment: a start that fails is worth another try, with other ports.
//
// The zero Ports has none.
type Ports struct {
	numbers []int
	release []func() error // for each port
}

// ReservePorts reserves n ports.
func ReservePorts(n int) (*Ports, error) {
	p := &Ports{}
	for range n {
		number, release, err := reservePort()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("reserve a port: %w", err), p.Release())
		}
		p.numbers, p.release = append(p.numbers, number), append(p.release, release)
	}
	if !KeepsPorts { // not before all are found, so that they differ
		return p, p.Release()
	}
	return p, nil
}

// Numbers returns the ports.
func (p *Ports) Numbers() []int { return p.numbers }

// Release ends the reservations. It is called after the end of the programs that use the ports,
// and may be called again.
func (p *Ports) Release() error {
	var errs []error
	for _, release := range p.release {
		errs = append(errs, release())
	}
	p.release = nil
	return errors.Join(errs...)
}
