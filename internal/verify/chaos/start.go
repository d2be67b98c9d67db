package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/fleet"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/nemesis"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/chaos/store"
	"github.com/go-curator/curator/internal/verify/chaos/wallclock"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// serverCount is how many servers the ensemble has.
const serverCount = 3

// maxHeap bounds the heap of a worker at its end.
const maxHeap = 64 << 20

// root is the node below which everything happens.
const root = "/chaos"

// run is a run.
type run struct {
	Config
	operation *Operation // nil for the nemesis
	stage     *stage
	recorder  *recorder
	dir       string // for programs and for what the workers say
	servers   *curatortest.Ensemble
	store     *store.Server
	operator  *framework.Client
	workers   []*fleet.Member
	foreign   []*fleet.Member
	absent    []string // what this machine does not have: foreign workers, clocks
	library   *wallclock.Library
	clocks    []nemesis.Clock
	misdated  int
	dropped   int
}

// progress says how the run goes.
func (r *run) progress(format string, args ...any) {
	_, _ = fmt.Fprintf(r.Progress, format+"\n", args...) // it is not what counts
}

// failed is the event of something that the run itself could not do.
func failed(format string, args ...any) history.Event {
	return history.Event{At: history.Now(), Kind: history.Failed, Text: fmt.Sprintf(format, args...)}
}

// start starts servers and workers, and waits until the workers have sessions.
func (r *run) start(ctx context.Context) (err error) {
	if err := r.newClocks(ctx); err != nil {
		return fmt.Errorf("make the clocks: %w", err)
	}
	if err := r.stage.try(r.startServers); err != nil { // before the rest: it may skip the test
		return fmt.Errorf("start the servers: %w", err)
	}
	if r.recorder, err = newRecorder(r.Log); err != nil {
		return err
	}
	if r.dir, err = os.MkdirTemp("", "chaos-"); err != nil {
		return err
	}
	if r.store, err = store.New(); err != nil {
		return err
	}
	if err := r.startOperator(ctx); err != nil {
		return fmt.Errorf("make the nodes to begin with: %w", err)
	}
	if err := r.newWorkers(ctx); err != nil {
		return err
	}
	for _, m := range slices.Concat(r.workers, r.foreign) {
		if err := m.Start(); err != nil {
			return fmt.Errorf("start %s: %w", m.Name(), err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.Slack, errors.New("the workers have no sessions"))
	defer cancel()
	for _, m := range r.workers {
		for r.recorder.sessionOf(m.Name()) == 0 {
			if wait.For(ctx, 20*time.Millisecond) != nil {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

func (r *run) startServers() {
	var tb curatortest.TB = r.stage
	if r.Skipf != nil {
		tb = skippable{r.stage, r.Skipf}
	}
	const syncLimit = 5 // ticks, as in ZooKeeper's sample configuration
	opts := []curatortest.Option{curatortest.WithTickTime(r.tick()), curatortest.WithSyncLimit(syncLimit)}
	if r.operation != nil {
		opts = append(opts, r.operation.Servers...)
	}
	r.servers = curatortest.RealEnsemble(tb, serverCount, opts...)
}

// startOperator starts the client of the run itself, and makes the nodes that workers need.
func (r *run) startOperator(ctx context.Context) (err error) {
	policy := retry.BoundedExponentialBackoff(50*time.Millisecond, time.Second, 10)
	if r.operator, err = realservers.Client(ctx, r.servers.ConnectString(), r.Session, policy); err != nil {
		return err
	}
	nodes := []string{worker.CacheNode}
	for _, name := range worker.CacheNodes() {
		nodes = append(nodes, worker.CacheNode+"/"+name)
	}
	for _, name := range worker.GuardedRegisters() {
		nodes = append(nodes, worker.RegistersNode+"/"+name)
	}
	for i := range worker.EffectFolders {
		nodes = append(nodes, fmt.Sprintf("%s/%d", worker.EffectsNode, i))
	}
	for _, node := range nodes {
		if _, err := r.operator.Create().CreatingParentsIfNeeded().WithData([]byte{}).ForPath(ctx, root+node); err != nil {
			return err
		}
	}
	return nil
}

// newWorkers makes the workers, which are not started.
func (r *run) newWorkers(ctx context.Context) error {
	binary := ""
	if len(r.BuildFlags) > 0 {
		var err error
		if binary, err = fleet.Build(ctx, r.dir, r.BuildFlags); err != nil {
			return err
		}
	}
	inGo, err := fleet.Go(binary, r.Env)
	if err != nil {
		return err
	}
	for i := range r.Workers {
		s := r.settings(fmt.Sprintf("go-%d", i), uint64(i))
		s.SessionPolicy = i%2 == 1 || r.operation != nil
		if i < serverCount-1 && r.operation == nil { // these two are cut off with their server
			s.Connect = r.servers.Member(i).ConnectString()
		}
		r.workers = append(r.workers, fleet.New(inGo, s, r.dir, r.recorder.note))
	}
	if r.WithoutForeign {
		return nil
	}
	for i, f := range []struct {
		name, workloads string
		program         func(ctx context.Context, dir string) (fleet.Program, error)
	}{
		{"java", "java-", fleet.Java},
		{"kazoo", "kazoo-", fleet.Kazoo},
	} {
		if !slices.ContainsFunc(r.Workloads, func(name string) bool { return strings.HasPrefix(name, f.workloads) }) {
			continue
		}
		dir := filepath.Join(r.dir, f.name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		program, err := f.program(ctx, dir)
		if errors.Is(err, fleet.ErrNotInstalled) {
			r.absent = append(r.absent, f.name)
			continue
		}
		if err != nil {
			return err
		}
		if program, err = r.withClock(program, f.name); err != nil {
			return err
		}
		r.foreign = append(r.foreign, fleet.New(program, r.settings(f.name+"-0", uint64(100+i)), r.dir, r.recorder.note))
	}
	return nil
}

// settings are those of a worker.
func (r *run) settings(name string, number uint64) worker.Settings {
	return worker.Settings{
		Name: name, Connect: r.servers.ConnectString(), Root: root, Store: r.store.Address(),
		Session: r.Session, Seed: r.Seed*1000 + number, Workloads: r.Workloads, Pause: r.Pause,
	}
}

// newClocks makes a wall clock for each server, if they are to be stepped and this machine can do it.
func (r *run) newClocks(ctx context.Context) error {
	if r.operation != nil || len(r.Faults) > 0 && !slices.Contains(r.Faults, nemesis.WallClock) {
		return nil
	}
	dir, err := os.MkdirTemp("", "chaos-clocks-")
	if err != nil {
		return err
	}
	r.stage.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			r.stage.Errorf("%w", err)
		}
	})
	r.library, err = wallclock.Build(ctx, dir)
	if errors.Is(err, wallclock.ErrNotInstalled) {
		r.absent = append(r.absent, "what steps wall clocks (cc, on Linux)")
		return nil
	}
	if err != nil {
		return err
	}
	for i := range serverCount {
		clock, err := r.newClock(fmt.Sprintf("%s%d", replay.Server, i))
		if err != nil {
			return err
		}
		r.stage.clocks = append(r.stage.clocks, clock)
	}
	return nil
}

// newClock makes a clock that the nemesis steps.
func (r *run) newClock(name string) (*wallclock.Clock, error) {
	clock, err := r.library.Clock(name)
	if err == nil {
		r.clocks = append(r.clocks, nemesis.Clock{Name: name, Set: clock.Set})
	}
	return clock, err
}

// withClock returns the program with a wall clock of its own, if there are some.
func (r *run) withClock(program fleet.Program, name string) (fleet.Program, error) {
	if r.library == nil {
		return program, nil
	}
	clock, err := r.newClock(name)
	if err != nil {
		return nil, err
	}
	return fleet.With(program, clock.Environment()), nil
}
