package main

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curatortest"
)

// fault breaks something. What it does not heal itself it leaves to the field.
type fault func(ctx context.Context, f *field) error

// cutOff has nothing pass between the faulty server and the others.
func cutOff(_ context.Context, f *field) error {
	f.until(f.faulty.Peers().Silence())
	return nil
}

// cutOffOneWay has the others not hear the faulty server, which goes on hearing them.
func cutOffOneWay(_ context.Context, f *field) error {
	f.until(f.faulty.To().Silence())
	return nil
}

// unplug has nothing pass between the faulty server and anybody, as soon as it has answered a
// ping.
func unplug(ctx context.Context, f *field) error {
	if err := f.pinged(ctx); err != nil {
		return err
	}
	f.until(f.faulty.Peers().And(f.faulty.Clients(curatortest.Both)).Silence())
	return nil
}

// depose has the others lose their connections to the leader at once, and elect another one.
// The leader hears nothing of it, or of them.
func depose(_ context.Context, f *field) error {
	f.until(f.faulty.To().Silence())
	f.until(f.faulty.From().Reset())
	return nil
}

// thenSilent adds to a fault that some time later, before the faulty server has noticed or
// just after, nothing passes between it and its clients.
func thenSilent(first fault) fault {
	return func(ctx context.Context, f *field) error {
		if err := first(ctx, f); err != nil {
			return err
		}
		if err := f.pause(ctx, 0, syncLimit+1); err != nil {
			return err
		}
		f.until(f.faulty.Clients(curatortest.Both).Silence())
		return nil
	}
}

// thenReconnect adds to a fault that some time later the clients of the faulty server lose
// their connections to it, and make new ones.
func thenReconnect(first fault) fault {
	return func(ctx context.Context, f *field) error {
		if err := first(ctx, f); err != nil {
			return err
		}
		if err := f.pause(ctx, 0.2, syncLimit); err != nil {
			return err
		}
		f.faulty.Clients(curatortest.Both).Reset()()
		return nil
	}
}

// afterStop has the leader stopped for a while before another fault.
func afterStop(next fault) fault {
	return func(ctx context.Context, f *field) error {
		resume := f.leader.Pause()
		err := f.pause(ctx, 0.3, 2)
		resume()
		if err != nil {
			return err
		}
		if err := f.pause(ctx, 0, 1); err != nil {
			return err
		}
		return next(ctx, f)
	}
}

// whenLagging has the faulty server hear the leader late, before another fault and during it.
func whenLagging(next fault) fault {
	return func(ctx context.Context, f *field) error {
		f.until(f.faulty.From(f.leader).Delay(f.ticks(0.1, 1)))
		if err := f.pause(ctx, 1, 4); err != nil {
			return err
		}
		return next(ctx, f)
	}
}

// restartLeader ends the leader's process and starts it again.
func restartLeader(ctx context.Context, f *field) error {
	f.leader.Kill()
	err := f.pause(ctx, 0, 2)
	f.leader.Restart()
	return err
}

// passing has one fault by chance that is over before a session of the round can have ended, and
// before a server gives another one up.
func passing(ctx context.Context, f *field) error {
	const most = 0.26 // of a timeout
	longest := min(time.Duration(most*float64(f.timeout)), syncLimit*f.tick*2/3)
	faults := []func() (heal func()){
		f.faulty.Peers().Silence,
		f.faulty.Clients(curatortest.Both).Silence,
		f.faulty.Clients(curatortest.ToClient).Silence,
		f.faulty.Pause,
		f.leader.Pause,
	}
	heal := faults[f.random.IntN(len(faults))]()
	defer heal()
	return wait.For(ctx, f.between(longest/3, longest))
}
