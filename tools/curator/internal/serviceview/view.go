// Package serviceview shows the registry of services of package discovery, in a form whose JSON is
// stable. It only reads. A view is no snapshot: nodes are read one by one. Its functions are safe
// for concurrent use, and end with an error when ctx ends.
package serviceview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/discovery"
)

// Service is a service, with or without instances.
type Service struct {
	Name      string     `json:"name"`
	Path      string     `json:"path"`
	Instances []Instance `json:"instances"` // by the names of their nodes
	Error     string     `json:"error,omitempty"`
}

// Instance is an instance of a service. With an Error only its Node is known.
type Instance struct {
	ID         string          `json:"id"`
	Node       string          `json:"node"`
	Address    string          `json:"address"`
	Port       int             `json:"port"`    // 0 for none
	SSLPort    int             `json:"sslPort"` // 0 for none
	Type       string          `json:"type"`    // Java's name, such as DYNAMIC
	Enabled    bool            `json:"enabled"`
	Registered time.Time       `json:"registered"` // by the clock of who registered it
	URI        string          `json:"uri,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Session    string          `json:"session"` // hexadecimal, as in ZooKeeper's logs; 0x0 for one that stays
	Error      string          `json:"error,omitempty"`
}

// maxReads bounds how many nodes are read at a time.
const maxReads = 16

// Of returns the services of the registry at base, by name. What cannot be read or decoded has an
// Error. If the node at base does not exist the error matches framework.ErrNoNode.
func Of(ctx context.Context, client *framework.Client, base string) ([]Service, error) {
	names, err := client.GetChildren().ForPath(ctx, base)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	found := make([]Service, len(names))
	reader := reader{client, discovery.JSON[json.RawMessage]()}
	for i, name := range names {
		if found[i], err = reader.service(ctx, name, join(base, name)); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(found, func(s Service) bool { return s.Name == "" }), nil
}

type reader struct {
	client *framework.Client
	codec  codec.Codec[discovery.ServiceInstance[json.RawMessage]]
}

// service reads a service, which has no name if it has gone meanwhile.
func (r reader) service(ctx context.Context, name, path string) (Service, error) {
	s := Service{Name: name, Path: path, Instances: []Instance{}}
	nodes, err := r.client.GetChildren().ForPath(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return Service{}, nil
	case errors.Is(err, framework.ErrNoAuth):
		s.Error = err.Error()
		return s, nil
	case err != nil:
		return s, err
	}
	slices.Sort(nodes)
	instances := make([]Instance, len(nodes))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(maxReads)
	for i, node := range nodes {
		reads.Go(func() (err error) {
			instances[i], err = r.instance(ctx, join(path, node))
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return s, err
	}
	s.Instances = slices.DeleteFunc(instances, func(i Instance) bool { return i.Node == "" })
	return s, nil
}

// instance reads an instance, which has no node if it has gone meanwhile.
func (r reader) instance(ctx context.Context, path string) (Instance, error) {
	var stat framework.Stat
	data, err := r.client.GetData().StoringStatIn(&stat).ForPath(ctx, path)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return Instance{}, nil
	case errors.Is(err, framework.ErrNoAuth):
		return Instance{Node: path, Error: err.Error()}, nil
	case err != nil:
		return Instance{}, err
	}
	session := fmt.Sprintf("0x%x", uint64(stat.EphemeralOwner))
	i, err := r.codec.Decode(data)
	if err != nil {
		return Instance{Node: path, Session: session, Error: err.Error()}, nil //nolint:nilerr // it is shown
	}
	shown := Instance{
		ID: i.ID, Node: path, Address: i.Address, Port: i.Port, SSLPort: i.SSLPort, Type: i.Type.String(), Enabled: !i.Disabled,
		Registered: i.Registered, URI: i.URI(nil), Session: session,
	}
	if json.Valid(i.Payload) && string(i.Payload) != "null" {
		shown.Payload = i.Payload
	}
	return shown, nil
}

func join(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }
