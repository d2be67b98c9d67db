package view

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

// Service is a service, with or without instances.
type Service struct {
	Name      string     `json:"name"`
	Path      string     `json:"path"`
	Instances []Instance `json:"instances"` // ordered by the names of their nodes
	Error     string     `json:"error,omitempty"`
}

// Instance is an instance of a service. If there is an Error, only Node and, if it is known,
// Session are set.
type Instance struct {
	ID         string          `json:"id"`
	Node       string          `json:"node"`
	Address    string          `json:"address"`
	Port       int             `json:"port"`    // 0 for none
	SSLPort    int             `json:"sslPort"` // 0 for none
	Type       string          `json:"type"`    // Java's name, such as DYNAMIC
	Enabled    bool            `json:"enabled"`
	Registered time.Time       `json:"registered"` // by the clock of the process that registered it
	URI        string          `json:"uri,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Session    string          `json:"session"` // hexadecimal, as in ZooKeeper's logs; 0x0 for a persistent node
	Error      string          `json:"error,omitempty"`
}

// Services returns the services below the base path, ordered by name. A service that cannot be read, and
// an instance that cannot be read or decoded, has an Error. If the node at base does not exist, the
// error matches framework.ErrNoNode.
func Services(ctx context.Context, client *framework.Client, base string) ([]Service, error) {
	names, err := client.GetChildren().ForPath(ctx, base)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	found := make([]Service, len(names))
	reader := serviceReader{client, discovery.JSON[json.RawMessage]()}
	for i, name := range names {
		if found[i], err = reader.service(ctx, name, join(base, name)); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(found, func(s Service) bool { return s.Name == "" }), nil
}

type serviceReader struct {
	client *framework.Client
	codec  codec.Codec[discovery.ServiceInstance[json.RawMessage]]
}

// service reads a service. The result has no name if the service was deleted meanwhile.
func (r serviceReader) service(ctx context.Context, name, path string) (Service, error) {
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
	for i, node := range nodes {
		nodes[i] = join(path, node)
	}
	for path, read := range r.client.ReadMany(ctx, slices.Values(nodes)) {
		switch {
		case errors.Is(read.Err, framework.ErrNoNode): // it was deleted meanwhile
		case errors.Is(read.Err, framework.ErrNoAuth):
			s.Instances = append(s.Instances, Instance{Node: path, Error: read.Err.Error()})
		case read.Err != nil:
			return s, read.Err
		default:
			s.Instances = append(s.Instances, r.instance(path, read))
		}
	}
	return s, nil
}

func (r serviceReader) instance(path string, read framework.Read) Instance {
	session := output.Hex(read.Stat.EphemeralOwner)
	i, err := r.codec.Decode(read.Data)
	if err != nil {
		return Instance{Node: path, Session: session, Error: err.Error()}
	}
	shown := Instance{
		ID: i.ID, Node: path, Address: i.Address, Port: i.Port, SSLPort: i.SSLPort, Type: i.Type.String(), Enabled: !i.Disabled,
		Registered: i.Registered, URI: i.URI(nil), Session: session,
	}
	if json.Valid(i.Payload) && string(i.Payload) != "null" {
		shown.Payload = i.Payload
	}
	return shown
}

// ServiceRows returns the rows of a table of services.
func ServiceRows(list []Service) [][]string {
	rows := [][]string{{"SERVICE", "INSTANCE", "ADDRESS", "PORT", "TLS PORT", "TYPE", "FOR", "SESSION"}}
	port := func(n int) string {
		if n == 0 {
			return "-"
		}
		return strconv.Itoa(n)
	}
	for _, s := range list {
		if s.Error != "" {
			rows = append(rows, []string{s.Name, "-", s.Error})
		}
		if s.Error == "" && len(s.Instances) == 0 {
			rows = append(rows, []string{s.Name, "(none)"})
		}
		for _, i := range s.Instances {
			if i.Error != "" {
				rows = append(rows, []string{s.Name, i.Node, i.Error})
				continue
			}
			kind := i.Type
			if !i.Enabled {
				kind += ", disabled"
			}
			rows = append(rows, []string{s.Name, i.ID, orDash(i.Address), port(i.Port), port(i.SSLPort), kind, Age(i.Registered), i.Session})
		}
	}
	return rows
}
