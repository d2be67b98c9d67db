package discovery

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
)

// endpointText names an instance in errors.
func (i *ServiceInstance[T]) endpointText() string { return fmt.Sprintf("%s of %s", i.ID, i.Name) }

// wanted is an instance that is to be registered.
type wanted[T any] struct {
	instance  ServiceInstance[T]
	key       key
	path      string // of the node, without the number of DynamicSequential
	data      []byte
	anonymous bool // nobody else knows the id
}

// key is what an instance is known by.
type key struct{ name, id string }

// key returns the key of an instance. Names of services that are the same node are the same.
func (p *places[T]) key(name, id string) key {
	if p.cfg.path == nil {
		name = trimmed(name)
	}
	return key{name, id}
}

// wanted checks an instance, and encodes it.
func (p *places[T]) wanted(instance ServiceInstance[T]) (wanted[T], error) {
	if err := instance.check(); err != nil {
		return wanted[T]{}, err
	}
	path, err := p.instance(instance.Name, instance.ID)
	if err != nil {
		return wanted[T]{}, err
	}
	data, err := p.codec.Encode(instance)
	if err != nil {
		return wanted[T]{}, fmt.Errorf("encode: %w", err)
	}
	return wanted[T]{instance: instance, key: p.key(instance.Name, instance.ID), path: path, data: data}, nil
}

// fill fills in what was left open.
func (p *places[T]) fill(instance *ServiceInstance[T]) error {
	if instance.ID == "" {
		instance.ID = newID()
	}
	if instance.Registered.IsZero() {
		instance.Registered = time.Now()
	}
	instance.Registered = milliseconds(instance.Registered)
	if instance.Address == "" {
		address, err := LocalAddress(nil)
		if err != nil {
			return fmt.Errorf("%w: the instance has no Address: %w", framework.ErrInvalidOption, err)
		}
		instance.Address = address
	}
	return nil
}

func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
