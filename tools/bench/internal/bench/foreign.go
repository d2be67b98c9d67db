package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/zkserver/netfault"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// foreign is a peer in another process.
type foreign struct {
	name    string
	command *exec.Cmd // the command that has started peer
	peer    *protocol.Peer
	relays  *relays // the relays to its service; may be nil
	service Service // the peer's own service; nil if it uses a shared one
}

// Program makes a peer's program ready to be started, and returns its command. It can keep files in
// dir until the program has ended. The program runs the workloads of package protocol on the service
// at the address: for ZooKeeper a connect string, else a host and a port.
type Program func(ctx context.Context, dir, address string) (*exec.Cmd, error)

// Service is a running server that only one peer uses.
type Service interface {
	// Address returns the host and the port.
	Address() string
	// Close stops the server and deletes its data.
	Close() error
}

// OnZooKeeper returns a peer in a process of its own that uses the ZooKeeper servers that all peers
// share. Quick peers take part in a quick run.
func OnZooKeeper(name string, quick bool, program Program) PeerKind {
	return PeerKind{name: name, quick: quick, start: func(ctx context.Context, s *services) (peer, error) {
		return startForeign(ctx, s, name, program, s.servers, nil)
	}}
}

// OnService returns a peer in a process of its own that uses a service of its own. It takes no part in
// a quick run. serve starts the service before the peer's first turn.
func OnService[S Service](name string, serve func(ctx context.Context) (S, error), program Program) PeerKind {
	return PeerKind{name: name, start: func(ctx context.Context, s *services) (peer, error) {
		service, err := serve(ctx)
		if err != nil {
			return nil, err
		}
		return startForeign(ctx, s, name, program, []string{service.Address()}, service)
	}}
}

// startForeign starts a peer for the service at addresses. If the service is the peer's own, it is
// closed with the peer, and if the peer cannot be started.
func startForeign(ctx context.Context, s *services, name string, program Program, addresses []string, own Service) (_ peer, err error) {
	f := &foreign{name: name, service: own}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	address := strings.Join(addresses, ",")
	if s.distance > 0 || s.relayed {
		if f.relays, err = newRelays(addresses, s.distance); err != nil {
			return nil, err
		}
		address = f.relays.address()
	}
	dir := filepath.Join(s.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if f.command, err = program(ctx, dir, address); err != nil {
		return nil, err
	}
	if f.peer, err = protocol.Start(ctx, f.command); err != nil {
		return nil, err
	}
	return f, f.compile(ctx, s.warmUp)
}

// compile runs a workload until a JVM has compiled the code that it runs most. Peers are compared in
// the state that they have after some time of work.
func (f *foreign) compile(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	_, err := f.ask(ctx, protocol.Request{Workload: protocol.Contend, Clients: 8, Path: "/bench/peers-warm-up/" + f.name, DurationMS: d.Milliseconds()})
	return err
}

// run runs a workload in the process.
func (f *foreign) run(ctx context.Context, w workload, path string, t timing) (measure.Run, error) {
	switch w.kind {
	case "":
		return measure.Run{}, errUnsupported
	case protocol.Hold:
		return crashes(w.waiters, path, func(path string) (time.Duration, error) {
			took, err := f.peer.Outlive(ctx, f.command, path, crashTimeout)
			return took, supported(err)
		})
	}
	request := protocol.Request{
		Workload: w.kind, Clients: w.clients, Waiters: w.waiters, Leases: w.leases, Writes: w.writes, Path: path,
		WarmupMS: t.warmUp.Milliseconds(), DurationMS: t.duration.Milliseconds(),
	}
	counts := f.relays != nil && w.kind != protocol.Drain && w.kind != protocol.LeaderSuccession // a relay cannot separate their queueing from the rest
	if !counts {
		return f.ask(ctx, request)
	}
	// The warm-up is a separate request, so that its messages are not counted.
	warmUp := request
	warmUp.WarmupMS, warmUp.DurationMS, request.WarmupMS = 0, request.WarmupMS, 0
	if _, err := f.ask(ctx, warmUp); err != nil {
		return measure.Run{}, err
	}
	before := f.relays.counter.Total()
	run, err := f.ask(ctx, request)
	traffic := f.relays.counter.Total().Sub(before)
	run.Wire = &traffic
	return run, err
}

// crashes kills n holders, each at its own path. once kills one holder, and returns the time until the
// next contender had the lock.
func crashes(n int, path string, once func(path string) (time.Duration, error)) (measure.Run, error) {
	var run measure.Run
	var latencies []time.Duration
	for i := range n {
		took, err := once(fmt.Sprintf("%s/%d", path, i))
		if err != nil {
			return measure.Run{}, err
		}
		latencies = append(latencies, took)
		run.Operations++
		run.Elapsed += took
	}
	run.Latency = measure.Summarize(latencies)
	return run, nil
}

// ask sends a request and returns the result.
func (f *foreign) ask(ctx context.Context, request protocol.Request) (measure.Run, error) {
	result, err := f.peer.Run(ctx, request)
	if err != nil {
		return measure.Run{}, supported(err)
	}
	run := measure.Run{Operations: int(result.Operations), Elapsed: time.Duration(result.ElapsedNS)}
	latencies := make([]time.Duration, len(result.LatenciesNS))
	for i, ns := range result.LatenciesNS {
		latencies[i] = time.Duration(ns)
	}
	run.Latency = measure.Summarize(latencies)
	return run, nil
}

// supported returns errUnsupported for the error of a peer that does not have a workload, and other
// errors unchanged.
func supported(err error) error {
	if errors.Is(err, protocol.ErrUnsupported) {
		return errUnsupported
	}
	return err
}

// close ends the process, its relays and its own service.
func (f *foreign) close() error {
	var errs []error
	if f.peer != nil {
		errs = append(errs, f.peer.Close())
	}
	f.relays.close()
	if f.service != nil {
		errs = append(errs, f.service.Close())
	}
	return errors.Join(errs...)
}

// relays pass connections of a peer on to servers. They count the traffic, and can delay it.
type relays struct {
	proxies []*netfault.Proxy
	counter measure.Counter
}

// newRelays returns a relay to each address. They delay all data by delay, in each direction.
func newRelays(addresses []string, delay time.Duration) (*relays, error) {
	r := &relays{}
	for _, address := range addresses {
		p, err := netfault.NewProxy(address)
		if err != nil {
			r.close()
			return nil, err
		}
		p.Wrap = r.counter.Count
		p.Delay(netfault.Both, delay)
		p.Start()
		r.proxies = append(r.proxies, p)
	}
	return r, nil
}

// address returns the connect string of the relays.
func (r *relays) address() string {
	var addresses []string
	for _, p := range r.proxies {
		addresses = append(addresses, p.Address())
	}
	return strings.Join(addresses, ",")
}

// close closes the relays. r may be nil.
func (r *relays) close() {
	if r == nil {
		return
	}
	for _, p := range r.proxies {
		p.Close()
	}
}
