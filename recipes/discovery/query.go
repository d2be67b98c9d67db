package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// readsAtOnce is how many instances are read in one write.
const readsAtOnce = 256

// QueryForNames lists the services in the order of their names, also those without instances.
// It returns none if there is no registry yet. When ctx ends it returns its error.
//
// Java: queryForNames.
func (d *ServiceDiscovery[T]) QueryForNames(ctx context.Context) ([]string, error) {
	if err := d.usable(ctx); err != nil {
		return nil, err
	}
	names, err := d.children(ctx, d.places.base)
	return names, d.explain(err)
}

// QueryForInstances lists the instances of a service, including disabled ones, in the order of
// the names of their nodes, which are usually their ids. Instances that cannot be decoded, or
// may not be read, are left out and logged. An unknown service has none. It sends one list and
// one read for each instance, in writes of 256 requests, so the result is no snapshot. When ctx
// ends it returns its error.
//
// Java: queryForInstances, which fails for one instance that cannot be decoded.
func (d *ServiceDiscovery[T]) QueryForInstances(ctx context.Context, name string) ([]ServiceInstance[T], error) {
	if err := d.usable(ctx); err != nil {
		return nil, err
	}
	dir, err := d.places.service(name)
	if err != nil {
		return nil, d.explain(err)
	}
	names, err := d.children(ctx, dir)
	if err != nil {
		return nil, d.explain(err)
	}
	instances := make([]ServiceInstance[T], 0, len(names))
	for chunk := range slices.Chunk(names, readsAtOnce) {
		if instances, err = d.places.read(ctx, dir, chunk, instances); err != nil {
			return nil, d.explain(err)
		}
	}
	return instances, nil
}

// QueryForInstance returns one instance. id is the name of its node, which for a
// DynamicSequential instance has a number after the id. Errors: framework.ErrNoNode,
// codec.ErrDecode, framework.ErrInvalidPath. When ctx ends it returns its error.
//
// Java: queryForInstance, which returns null.
func (d *ServiceDiscovery[T]) QueryForInstance(ctx context.Context, name, id string) (ServiceInstance[T], error) {
	var none ServiceInstance[T]
	if err := d.usable(ctx); err != nil {
		return none, err
	}
	path, err := d.places.instance(name, id)
	if err != nil {
		return none, d.explain(err)
	}
	data, err := d.places.client.GetData().ForPath(ctx, path)
	if err != nil {
		return none, d.explain(err)
	}
	instance, err := d.places.decode(data)
	if err != nil {
		return none, d.explain(fmt.Errorf("instance %s: %w", path, err))
	}
	return instance, nil
}

// usable returns what is wrong with a call.
func (d *ServiceDiscovery[T]) usable(ctx context.Context) error {
	switch {
	case d == nil || d.places == nil:
		return fmt.Errorf("discovery: %w", framework.ErrNotStarted)
	case ctx == nil:
		return d.explain(errNilContext)
	}
	return nil
}

// children lists the children of a node in their order, none if it is missing.
func (d *ServiceDiscovery[T]) children(ctx context.Context, path string) ([]string, error) {
	names, err := d.places.client.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// read reads instances in one write, and appends them.
func (p *places[T]) read(ctx context.Context, dir string, names []string, to []ServiceInstance[T]) ([]ServiceInstance[T], error) {
	full, err := p.api.ServerPath(dir)
	if err != nil {
		return nil, err
	}
	calls := make([]*zkconn.Call, len(names))
	err = p.api.Retry(ctx, "getData", dir, func(ctx context.Context, conn *zkconn.Conn) error {
		for i, name := range names {
			calls[i] = watchset.ReadCall(watchset.Want{Path: paths.Make(full, name), Kind: watchset.Data}, nil)
		}
		return conn.Do(ctx, 0, calls...)
	})
	if err != nil {
		return nil, err
	}
	for i, call := range calls {
		instance, err := p.answered(paths.Make(full, names[i]), call)
		switch {
		case err == nil:
			to = append(to, instance)
		case !errors.Is(err, framework.ErrNoNode): // else it has gone meanwhile
			p.leaveOut(paths.Make(dir, names[i]), err)
		}
	}
	return to, nil
}

// answered returns the instance of a read. full is the server's path.
func (p *places[T]) answered(full string, call *zkconn.Call) (ServiceInstance[T], error) {
	if call.Err != nil {
		return ServiceInstance[T]{}, call.Err
	}
	data, err := p.api.Data(full, call.Res.(*jute.GetDataResponse).Data, zkclient.AsConfigured)
	if err != nil {
		return ServiceInstance[T]{}, err
	}
	return p.decode(data)
}
