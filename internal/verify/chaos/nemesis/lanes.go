package nemesis

import (
	"context"
	"time"
)

// fault is a kind of fault. It tells whether it was made.
type fault struct {
	kind   string
	weight int
	do     func(ctx context.Context, a *attack) bool
}

// asked are the kinds that are made only if they are asked for by name: what ZooKeeper itself does
// not survive. A leader whose disk is full can lose writes that were acknowledged, in 3.8.0.
func asked() []string { return []string{leaderDisk} }

const leaderDisk = "leader-disk-full"

// WallClock is the kind of the steps of wall clocks.
const WallClock = "wall-clock"

// lane makes its faults one after the other.
type lane struct {
	pause  time.Duration // between them, on average
	faults []fault
}

// lanes are all that there are.
func lanes() []lane {
	return []lane{
		{3 * time.Second, []fault{
			{"server-killed", 3, serverKilled},
			{"server-paused", 3, serverPaused},
			{"server-restarted", 2, serverRestarted},
			{"server-disk-full", 2, serverDiskFull},
			{leaderDisk, 2, leaderDiskFull},
			{"leader-deposed", 3, leaderDeposed},
			{"peers-silent", 3, peersSilent},
			{"peers-silent-one-way", 3, peersSilentOneWay},
			{"peers-late", 2, peersLate},
		}},
		{700 * time.Millisecond, []fault{
			{"clients-silent", 3, clientsSilent},
			{"clients-silent-one-way", 3, clientsSilentOneWay},
			{"clients-late", 2, clientsLate},
			{"clients-jitter", 2, clientsJitter},
			{"clients-reset", 3, clientsReset},
		}},
		{400 * time.Millisecond, []fault{
			{"node-deleted", 10, nodeDeleted},
			{"node-deleted-unheard", 2, nodeDeletedUnheard},
			{"lock-deleted", 2, lockDeleted},
			{"session-ended", 3, sessionEnded},
			{"disconnected", 5, disconnected},
		}},
		{2500 * time.Millisecond, []fault{
			{"worker-stopped", 4, workerStopped},
			{"foreign-stopped", 1, foreignStopped},
		}},
		{4 * time.Second, []fault{
			{"worker-killed", 8, workerKilled},
			{"foreign-killed", 1, foreignKilled},
		}},
		{1500 * time.Millisecond, []fault{
			{WallClock, 1, wallClock},
		}},
	}
}
