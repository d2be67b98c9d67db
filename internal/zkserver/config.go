package zkserver

import (
	"log/slog"
	"time"

	"github.com/go-curator/curator/internal/zkserver/tree"
)

// Config sets up a Server. The zero Config is ZooKeeper's own defaults.
type Config struct {
	// TickTime is the unit of session time: sessions expire at multiples of it. The
	// default is 2 s.
	TickTime time.Duration
	// MinSessionTimeout bounds what a client can ask for; the default is 2 ticks.
	MinSessionTimeout time.Duration
	// MaxSessionTimeout bounds what a client can ask for; the default is 20 ticks.
	MaxSessionTimeout time.Duration
	// MaxBuffer is jute.maxbuffer, the longest request: a connection that sends a longer
	// one is closed. The default is 0xfffff bytes.
	MaxBuffer int
	// ContainerCheckInterval is how often empty containers and TTL nodes whose time has
	// passed are removed. The default is 60 s.
	ContainerCheckInterval time.Duration
	// ContainerMaxNeverUsed is how long a container that never had a child, and was not
	// written, stays. The default is 0: for ever.
	ContainerMaxNeverUsed time.Duration
	// Latency is how long everything takes on its way, in each direction. The default is 0.
	Latency time.Duration
	// FirstZxid is what the ids of transactions are counted from. The default is 0. A server
	// that takes the place of another, without its data, needs a higher one than that has
	// reached: clients turn away from a server that knows less than they have seen.
	FirstZxid int64
	// Release is the release of ZooKeeper that the server answers as. The default is 3.8.0.
	Release tree.Release
	// Keeper says what the server does as ClickHouse Keeper does it. The default is nothing.
	Keeper Keeper
	// Logger is told, at debug level, of connections refused and sessions ended; as warnings,
	// of quotas that are exceeded and, at most once a minute, that connections cannot be
	// accepted. The default is silent.
	Logger *slog.Logger
}

// withDefaults returns c with its unset fields filled in.
func (c Config) withDefaults() Config {
	if c.TickTime <= 0 {
		c.TickTime = 2 * time.Second
	}
	if c.MinSessionTimeout <= 0 {
		c.MinSessionTimeout = 2 * c.TickTime
	}
	if c.MaxSessionTimeout <= 0 {
		c.MaxSessionTimeout = 20 * c.TickTime
	}
	c.MaxSessionTimeout = max(c.MaxSessionTimeout, c.MinSessionTimeout)
	if c.MaxBuffer <= 0 {
		c.MaxBuffer = 0xfffff
	}
	if c.ContainerCheckInterval <= 0 {
		c.ContainerCheckInterval = time.Minute
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// negotiate returns the session timeout that a client gets which asks for d.
func (c Config) negotiate(d time.Duration) time.Duration {
	return min(max(d, c.MinSessionTimeout), c.MaxSessionTimeout)
}

// tree returns what the server's state needs of c.
func (c Config) tree() tree.Config {
	config := tree.Config{TickTime: c.TickTime, FirstZxid: c.FirstZxid, MaxNeverUsed: c.ContainerMaxNeverUsed, Release: c.Release}
	if c.Keeper.NewSessions {
		config.FirstSession = 1
	}
	return config
}
