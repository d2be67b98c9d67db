package discoverygrpc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/base"
	"google.golang.org/grpc/balancer/endpointsharding"
	"google.golang.org/grpc/balancer/pickfirst"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/experimental/balancer/weight"

	"github.com/go-curator/curator/recipes/discovery"
)

// Policy is the name of a load balancing policy of gRPC. It connects to all instances, and
// shares calls among the connected instances by their weights: at random if the weights differ,
// and in turn if they do not. It is registered when this package is imported.
//
// Unlike round_robin it fails calls with the resolver's error also when a list has become empty.
const Policy = "curator_weighted"

// ServiceConfig is for grpc.WithDefaultServiceConfig. It selects the Policy.
const ServiceConfig = `{"loadBalancingConfig":[{"` + Policy + `":{}}]}`

// gRPC takes policies at no other time.
func init() { balancer.Register(policy{}) }

type policy struct{}

func (policy) Name() string { return Policy }

func (policy) Build(cc balancer.ClientConn, opts balancer.BuildOptions) balancer.Balancer {
	b := &weightedBalancer{ClientConn: cc, problem: discovery.ErrNoInstance}
	b.child = endpointsharding.NewBalancer(b, opts, balancer.Get(pickfirst.Name).Build, endpointsharding.Options{})
	return b
}

// weightedBalancer has a pick_first for each endpoint, by endpointsharding, and makes the picker
// that chooses between those.
type weightedBalancer struct {
	balancer.ClientConn // of gRPC; the child gets the weightedBalancer in its place
	child               balancer.Balancer

	mu      sync.Mutex
	problem error // why there are no endpoints; nil when there are
}

func (b *weightedBalancer) UpdateClientConnState(s balancer.ClientConnState) error {
	b.mu.Lock()
	b.problem = problemOf(s.ResolverState)
	b.mu.Unlock()
	// The health listener is for health checks and outlier detection, as in gRPC's own policies.
	return b.child.UpdateClientConnState(balancer.ClientConnState{ResolverState: pickfirst.EnableHealthListener(s.ResolverState)})
}

// ResolverError takes err for what calls fail with if there are no endpoints.
func (b *weightedBalancer) ResolverError(err error) {
	b.mu.Lock()
	if b.problem != nil {
		b.problem = err
	}
	b.mu.Unlock()
	b.child.ResolverError(err) // it calls UpdateState
}

// UpdateSubConnState is never called: pick_first has listeners.
func (b *weightedBalancer) UpdateSubConnState(balancer.SubConn, balancer.SubConnState) {}

func (b *weightedBalancer) ExitIdle() { b.child.ExitIdle() }

func (b *weightedBalancer) Close() { b.child.Close() }

// UpdateState is called by the child, with the states of its endpoints.
func (b *weightedBalancer) UpdateState(s balancer.State) {
	children := endpointsharding.ChildStatesFromPicker(s.Picker)
	b.mu.Lock()
	problem := b.problem
	b.mu.Unlock()
	if len(children) == 0 && problem != nil {
		s.Picker = base.NewErrPicker(fmt.Errorf("name resolver error: %w", problem))
	} else if p := newWeightedPicker(children); p != nil {
		s.Picker = p
	}
	b.ClientConn.UpdateState(s)
}

// weightedPicker chooses at random by weight.
type weightedPicker struct {
	pickers []balancer.Picker
	upTo    []uint64 // sums of the weights of the pickers up to here
}

// newWeightedPicker returns nil if the connected endpoints have the same weight: the child's own
// picker takes one after the other.
func newWeightedPicker(children []endpointsharding.ChildState) *weightedPicker {
	p := new(weightedPicker)
	var sum, first uint64
	differ := false
	for _, c := range children {
		if c.State.ConnectivityState != connectivity.Ready {
			continue
		}
		w := uint64(max(weight.FromEndpoint(c.Endpoint).Weight, 1))
		if first == 0 {
			first = w
		}
		differ = differ || w != first
		sum += w
		p.pickers = append(p.pickers, c.State.Picker)
		p.upTo = append(p.upTo, sum)
	}
	if !differ {
		return nil
	}
	return p
}

func (p *weightedPicker) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	n := rand.Uint64N(p.upTo[len(p.upTo)-1])
	i, _ := slices.BinarySearchFunc(p.upTo, n, func(sum, n uint64) int {
		if sum <= n {
			return -1
		}
		return 1
	})
	return p.pickers[i].Pick(info)
}
