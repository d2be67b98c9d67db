package locks

import (
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
)

// Option is an option of every lock of this package.
type Option interface {
	MutexOption
}

// MutexOption is an option of InterProcessMutex.
type MutexOption interface{ applyMutex(*config) error }

type config struct {
	maxWait        time.Duration
	releaseTimeout time.Duration
	nodeData       []byte
	nodeDataGiven  bool
}

type anyOption func(*config) error

func (o anyOption) applyMutex(c *config) error { return o(c) }

func newConfig(opts []MutexOption) (config, error) {
	cfg := config{releaseTimeout: time.Second}
	for _, o := range opts {
		if o == nil {
			return cfg, fmt.Errorf("%w: an option is nil", framework.ErrInvalidOption)
		}
		if err := o.applyMutex(&cfg); err != nil {
			return cfg, fmt.Errorf("%w: %w", framework.ErrInvalidOption, err)
		}
	}
	return cfg, nil
}

func durationOption(name string, d time.Duration, set func(*config)) Option {
	return anyOption(func(c *config) error {
		switch {
		case d <= 0:
			return fmt.Errorf("%s(%v) is not positive", name, d)
		case d < time.Millisecond:
			return fmt.Errorf("%s(%d) is %v; Go durations are nanoseconds: %d*time.Millisecond?", name, int64(d), d, int64(d))
		}
		set(c)
		return nil
	})
}

// WithMaxWait ends every Acquire after d, besides its context: a bound for the wait
// that cannot be mistaken for one of the work. d must be positive. The error matches
// ErrNotAcquired if the lock was seen to be held by others, else
// framework.ErrConnectionLoss; never context.DeadlineExceeded.
//
// Java: acquire(time, unit).
func WithMaxWait(d time.Duration) Option {
	return durationOption("WithMaxWait", d, func(c *config) { c.maxWait = d })
}

// WithReleaseTimeout sets how long Release waits when its context has ended already. The
// default is 1 s.
func WithReleaseTimeout(d time.Duration) Option {
	return durationOption("WithReleaseTimeout", d, func(c *config) { c.releaseTimeout = d })
}

// WithNodeData sets the data of the lock's nodes; nil is none. The default is the
// client's default data, the local IP address, as in Java.
//
// Java: getLockNodeBytes.
func WithNodeData(data []byte) Option {
	return anyOption(func(c *config) error {
		c.nodeData, c.nodeDataGiven = append([]byte{}, data...), true
		return nil
	})
}
