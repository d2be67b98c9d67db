package discovery

import (
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
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
		instance.ID = layout.NewUUID()
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
