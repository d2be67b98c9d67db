package chaos

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/verify/chaos/nemesis"
	"github.com/go-curator/curator/internal/verify/chaos/wallclock"
)

// stage stands for the test of an ensemble that is attacked from several goroutines. What cannot
// be done ends the one who has tried, by a panic that the nemesis recovers.
type stage struct {
	mu       sync.Mutex
	cleanups []func()
	errs     []error

	clocks []*wallclock.Clock // of the servers; nil if they have the system's
}

// ServerEnvironment returns what curatortest adds to the environment of a server.
func (s *stage) ServerEnvironment(i int) []string {
	if i >= len(s.clocks) {
		return nil
	}
	return s.clocks[i].Environment()
}

// Helper does nothing.
func (*stage) Helper() {}

// Logf does nothing.
func (*stage) Logf(string, ...any) {}

// Cleanup has f called at the end.
func (s *stage) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}

// Errorf keeps an error for the end.
func (s *stage) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, fmt.Errorf(format, args...))
}

// Fatalf panics with a nemesis.Broken.
func (s *stage) Fatalf(format string, args ...any) {
	panic(nemesis.Broken{Text: fmt.Sprintf(format, args...)})
}

// try calls f, and returns what f could not do as an error.
func (s *stage) try(f func()) (err error) {
	defer func() {
		switch broken := recover().(type) {
		case nil:
		case nemesis.Broken:
			err = fmt.Errorf("%s", broken.Text)
		default:
			panic(broken)
		}
	}()
	f()
	return nil
}

// end calls what Cleanup was given, the last one first, and returns the errors.
func (s *stage) end() []error {
	s.mu.Lock()
	cleanups := s.cleanups
	s.cleanups = nil
	s.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		if err := s.try(f); err != nil {
			s.Errorf("%w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errs
}

// skippable is a stage that a test is behind, which can be skipped.
type skippable struct {
	*stage
	skipf func(format string, args ...any)
}

// Skipf skips the test.
func (s skippable) Skipf(format string, args ...any) { s.skipf(format, args...) }
