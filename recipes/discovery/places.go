package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// places knows where the instances are and what their nodes have.
type places[T any] struct {
	client *framework.Client
	api    *zkclient.Client
	base   string
	codec  codec.Codec[ServiceInstance[T]]
	cfg    config
}

// service returns the path of the node whose children are the instances of a service. A name with
// slashes is that of a node below others, as in Java; Spring Cloud has such names.
func (p *places[T]) service(name string) (string, error) {
	var path string
	switch {
	case trimmed(name) == "":
		return "", fmt.Errorf("%w: the name of the service is %q", framework.ErrInvalidPath, name)
	case p.cfg.path != nil:
		path = p.cfg.path(name)
	default:
		path = paths.Make(p.base, name)
	}
	if _, err := p.api.ServerPath(path); err != nil {
		return "", fmt.Errorf("the service %q: %w", name, err)
	}
	return path, nil
}

// trimmed returns the name of a service without the slash that it may begin or end with.
func trimmed(name string) string { return strings.TrimSuffix(strings.TrimPrefix(name, "/"), "/") }

// instance returns the path of an instance's node.
func (p *places[T]) instance(name, id string) (string, error) {
	dir, err := p.service(name)
	if err != nil {
		return "", err
	}
	if id == "" || strings.Contains(id, "/") {
		return "", fmt.Errorf("%w: the id %q cannot be the name of a node", framework.ErrInvalidPath, id)
	}
	path := paths.Make(dir, id)
	if _, err := p.api.ServerPath(path); err != nil {
		return "", fmt.Errorf("the id %q: %w", id, err)
	}
	return path, nil
}

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

// decode returns the instance of a node.
func (p *places[T]) decode(data []byte) (ServiceInstance[T], error) {
	instance, err := p.codec.Decode(data)
	if err != nil {
		return ServiceInstance[T]{}, fmt.Errorf("%w: %w", codec.ErrDecode, err)
	}
	return instance, nil
}

// children lists the children of a node in their order, none if it is missing.
func (p *places[T]) children(ctx context.Context, path string) ([]string, error) {
	names, err := p.client.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// readsAtOnce is how many instances are read in one write.
const readsAtOnce = 256

// read reads instances in one write, and appends them.
func (p *places[T]) read(ctx context.Context, dir string, names []string, to []ServiceInstance[T]) ([]ServiceInstance[T], error) {
	full, err := p.api.ServerPath(dir)
	if err != nil {
		return nil, err
	}
	calls := make([]*zkconn.Call, len(names))
	err = p.api.Retry(ctx, "getData", dir, func(ctx context.Context, conn *zkconn.Conn) error {
		for i, name := range names {
			calls[i] = zkconn.GetData(paths.Make(full, name), nil)
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
	data, err := p.api.Data(full, call.Data(), zkclient.AsConfigured)
	if err != nil {
		return ServiceInstance[T]{}, err
	}
	return p.decode(data)
}

// leaveOut logs that an instance is left out.
func (p *places[T]) leaveOut(path string, err error) {
	p.api.Log(func() {
		p.client.Logger().Warn("an instance of a service is left out because it cannot be read", "path", path, "error", err)
	})
}

// sweepPause is the time between two tries to remove what a lost create may have left.
const sweepPause = time.Second

// sweep removes, in the background, the node that a sequential create may have made whose answer
// was lost. Nobody knows its name. It goes with its session otherwise. keeps says of a node that it is
// a registration's. done is closed when the node is gone, or its session is over: that is known without a
// connection, so nothing waits for one.
func (p *places[T]) sweep(want wanted[T], keeps func(path string) bool) (done <-chan struct{}) {
	session, gone := p.client.SessionID(), make(chan struct{})
	if !p.api.Go(func(ctx context.Context) {
		defer close(gone)
		for p.client.SessionID() == session {
			switch err := p.sweepOnce(ctx, want, session, keeps); {
			case err == nil, errors.Is(err, framework.ErrClosed):
				return
			case isUnreadable(err):
				p.leaveAlone(want.path, err)
				return
			}
			if wait.For(ctx, sweepPause) != nil {
				return
			}
		}
	}) {
		close(gone)
	}
	return gone
}

func (p *places[T]) sweepOnce(ctx context.Context, want wanted[T], session int64, keeps func(path string) bool) error {
	dir, id := paths.ParentAndNode(want.path)
	// A server without a quorum, which may not know the node yet, is not asked.
	bound := zkclient.OnSession(ctx, session)
	names, err := p.children(bound, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := paths.Make(dir, name)
		if !layout.IsNumbered(name, id) || keeps(path) {
			continue
		}
		var stat framework.Stat
		data, err := p.client.GetData().StoringStatIn(&stat).ForPath(bound, path)
		switch {
		case errors.Is(err, framework.ErrNoNode):
			continue
		case isUnreadable(err):
			p.leaveAlone(path, err)
			continue
		case err != nil:
			return err
		case stat.EphemeralOwner != session || !bytes.Equal(data, want.data):
			continue
		}
		if err := p.client.Delete().ForPath(ctx, path); err != nil && !errors.Is(err, framework.ErrNoNode) {
			return err
		}
	}
	return nil
}

// isUnreadable reports whether a node cannot be read, or not be deleted, whatever passes.
func isUnreadable(err error) bool {
	return errors.Is(err, framework.ErrNoAuth) || errors.Is(err, framework.ErrTooLarge)
}

// leaveAlone tells that what is at a path is left alone because it cannot be read, or not be deleted.
// Whether it is what is looked for cannot be seen. If it is, it goes with its session.
func (p *places[T]) leaveAlone(path string, err error) {
	p.api.Log(func() {
		p.client.Logger().Warn("discovery: a node is left alone while one is looked for that a lost create may have left", "path", path, "error", err)
	})
}
