package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/go-curator/curator/internal/verify/chaos/fleet"
	"github.com/go-curator/curator/internal/verify/chaos/nemesis"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/chaos/wallclock"
)

// newClocks makes a wall clock for each server, if they are to be stepped and this machine can do it.
func (r *run) newClocks(ctx context.Context) error {
	if len(r.Faults) > 0 && !slices.Contains(r.Faults, nemesis.WallClock) {
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
