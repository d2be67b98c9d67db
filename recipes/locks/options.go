package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-curator/curator/framework"
)

// Option is an option of every lock of this package.
type Option interface {
	MutexOption
	ReadWriteLockOption
	SemaphoreOption
}

// MutexOption is an option of InterProcessMutex.
type MutexOption interface{ applyMutex(*config) error }

// ReadWriteLockOption is an option of InterProcessReadWriteLock.
type ReadWriteLockOption interface{ applyReadWrite(*config) error }

// SemaphoreOption is an option of the semaphores.
type SemaphoreOption interface{ applySemaphore(*config) error }

type config struct {
	maxWait        time.Duration
	releaseTimeout time.Duration
	nodeData       []byte
	nodeDataGiven  bool
	plainData      bool // that of Java's locks
	name           string
	driver         LockInternalsDriver
	maxHold        time.Duration
	revocable      bool
	onRevoke       func(ctx context.Context, lease *Lease) // nil ends the lease
}

type anyOption func(*config) error

func (o anyOption) applyMutex(c *config) error     { return o(c) }
func (o anyOption) applyReadWrite(c *config) error { return o(c) }
func (o anyOption) applySemaphore(c *config) error { return o(c) }

type mutexOption func(*config) error

func (o mutexOption) applyMutex(c *config) error { return o(c) }

// WithDriver replaces the rules by which a mutex's nodes are made and ordered.
//
// Java: the constructor with a LockInternalsDriver.
func WithDriver(driver LockInternalsDriver) MutexOption {
	return mutexOption(func(c *config) error {
		if driver == nil {
			return errors.New("WithDriver: the driver is nil")
		}
		c.driver = driver
		return nil
	})
}

// newConfig applies options; apply is the method of theirs that does it.
func newConfig[O comparable](opts []O, apply func(O, *config) error) (config, error) {
	cfg := config{releaseTimeout: time.Second, driver: StandardLockInternalsDriver{}}
	var none O
	for _, o := range opts {
		if o == none {
			return cfg, fmt.Errorf("%w: an option is nil", framework.ErrInvalidOption)
		}
		if err := apply(o, &cfg); err != nil {
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

// maxName keeps metrics and their users sane.
const maxName = 128

// WithName sets the lock's name in spans and metrics, curator.lock.name. Metrics have no
// paths: without a name those of all locks of a kind are one. It must be one of a few that
// are known beforehand, "orders", not made from user input or ids.
func WithName(name string) Option {
	return anyOption(func(c *config) error {
		if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("WithName(%q) is no text of one line and 1 to %d bytes", name, maxName)
		}
		c.name = name
		return nil
	})
}

// WithNodeData sets the data of the lock's nodes exactly; nil is none. The default is the
// client's default data, the local IP address, as in Java, and on lines below it who holds
// the lock and in which trace: see tracing.WithoutHolderLinks.
//
// Java: getLockNodeBytes.
func WithNodeData(data []byte) Option {
	return anyOption(func(c *config) error {
		c.nodeData, c.nodeDataGiven = append([]byte{}, data...), true
		return nil
	})
}
