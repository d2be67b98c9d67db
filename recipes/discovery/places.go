package discovery

import (
	"fmt"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/zkclient"
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

// decode returns the instance of a node.
func (p *places[T]) decode(data []byte) (ServiceInstance[T], error) {
	instance, err := p.codec.Decode(data)
	if err != nil {
		return ServiceInstance[T]{}, fmt.Errorf("%w: %w", codec.ErrDecode, err)
	}
	return instance, nil
}

// leaveOut logs that an instance is left out.
func (p *places[T]) leaveOut(path string, err error) {
	p.api.Log(func() {
		p.client.Logger().Warn("an instance of a service is left out because it cannot be read", "path", path, "error", err)
	})
}
