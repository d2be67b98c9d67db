package main

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curatortest"
)

// fault makes a fault. Parts that it does not heal itself are healed by field.heal.
type fault func(ctx context.Context, f *field) error

// cutOff silences the network between the faulty server and the other servers.
func cutOff(_ context.Context, f *field) error {
	f.until(f.faulty.Peers().Silence())
	return nil
}

// cutOffOneWay silences the network from the faulty server to the others. The other direction works.
func cutOffOneWay(_ context.Context, f *field) error {
	f.until(f.faulty.To().Silence())
	return nil
}

// unplug silences the network between the faulty server and all others, clients included, as soon as
// the server has answered a ping.
func unplug(ctx context.Context, f *field) error {
	if err := f.pinged(ctx); err != nil {
		return err
	}
	f.until(f.faulty.Peers().And(f.faulty.Clients(curatortest.Both)).Silence())
	return nil
}

// depose resets the connections of the other servers to the leader, so that they elect another one at
// once. The leader does not notice, and receives nothing from them.
func depose(_ context.Context, f *field) error {
	f.until(f.faulty.To().Silence())
	f.until(f.faulty.From().Reset())
	return nil
}

// thenSilent returns a fault that makes first, and some time later silences the network between the
// faulty server and its clients: before the server has noticed the first fault, or just after that.
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

// thenReconnect returns a fault that makes first, and some time later closes the connections of the
// faulty server's clients, which then reconnect.
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

// afterStop returns a fault that first stops the leader's process for a while.
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

// whenLagging returns a fault that delays the messages of the leader to the faulty server, before
// another fault and during it.
func whenLagging(next fault) fault {
	return func(ctx context.Context, f *field) error {
		f.until(f.faulty.From(f.leader).Delay(f.ticks(0.1, 1)))
		if err := f.pause(ctx, 1, 4); err != nil {
			return err
		}
		return next(ctx, f)
	}
}

// restartLeader kills the leader's process and starts it again.
func restartLeader(ctx context.Context, f *field) error {
	f.leader.Kill()
	err := f.pause(ctx, 0, 2)
	f.leader.Restart()
	return err
}

// passing makes a random fault. It ends before a session of the round can expire, and before a server
// gives up another one.
func passing(ctx context.Context, f *field) error {
	const most = 0.26 // the longest fault, as a share of the session timeout
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
