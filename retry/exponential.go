package retry

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

const (
	// maxExponentialRetries is Java's MAX_RETRIES_LIMIT: the factor is an int there, and
	// would overflow.
	maxExponentialRetries = 29

	// maxExponentialDelay is Java's DEFAULT_MAX_SLEEP_MS, 24.8 days.
	maxExponentialDelay = math.MaxInt32 * time.Millisecond
)

// ExponentialBackoff returns a policy that retries maxRetries times, at most 29. It waits
// base times a random number that is at least 1 and below 2^(attempt+1), and never longer
// than 24 days.
//
// Java: new ExponentialBackoffRetry(baseMs, maxRetries). The random number is an integer there,
// so all clients wait equally long before their first retry.
func ExponentialBackoff(base time.Duration, maxRetries int) Policy {
	return exponential{"ExponentialBackoff", base, max(base, maxExponentialDelay), maxRetries}
}

// BoundedExponentialBackoff returns a policy that is [ExponentialBackoff] with no wait
// above ceiling. If a wait could reach the ceiling, a random wait below the ceiling is used
// instead, so clients that lost a server do not reconnect at the same time.
//
// Java: new BoundedExponentialBackoffRetry(baseMs, maxMs, maxRetries).
func BoundedExponentialBackoff(base, ceiling time.Duration, maxRetries int) Policy {
	return exponential{"BoundedExponentialBackoff", base, ceiling, maxRetries}
}

type exponential struct {
	name          string
	base, ceiling time.Duration
	maxRetries    int
}

func (p exponential) Next(attempt int, _ time.Duration, _ error) (time.Duration, bool) {
	attempt = max(attempt, 0)
	if attempt >= min(p.maxRetries, maxExponentialRetries) {
		return 0, false
	}
	top := p.ceiling
	if p.base <= top>>(attempt+1) { // else base<<(attempt+1) is above the ceiling, or overflows
		top = p.base << (attempt + 1)
	}
	if top <= p.base {
		return top, true
	}
	return p.base + rand.N(top-p.base), true
}

func (p exponential) validate() error {
	err := errors.Join(
		checkCount(p.name, p.maxRetries),
		checkDuration(p.name, "base", p.base),
		checkDuration(p.name, "ceiling", p.ceiling))
	if err == nil && p.ceiling < p.base {
		return fmt.Errorf("%s: ceiling %v is below base %v", p.name, p.ceiling, p.base)
	}
	return err
}
