package curatorgocron_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/go-curator/curator/internal/suite"
	curatorgocron "github.com/go-curator/curator/recipes/adapters/gocron"
	"github.com/go-curator/curator/recipes/locks"
)

// fleet is several schedulers, each on a host of its own, with the same job.
type fleet struct {
	*testing.T
	interval      time.Duration // of the job, from the start of a scheduler on
	runs, refused atomic.Int32
	ran           chan struct{}
}

func newFleet(t *testing.T, interval time.Duration) *fleet {
	return &fleet{T: t, interval: interval, ran: make(chan struct{}, 100)}
}

// start starts a scheduler, and shuts it down at the end of the test.
func (f *fleet) start(scheduler []gocron.SchedulerOption, job []gocron.JobOption, task any) gocron.Scheduler {
	f.Helper()
	s, err := gocron.NewScheduler(append(scheduler, gocron.WithStopTimeout(5*time.Second))...)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			f.Error(err)
		}
	})
	job = append([]gocron.JobOption{
		gocron.WithName("job"),
		gocron.WithEventListeners(gocron.AfterLockError(func(uuid.UUID, string, error) { f.refused.Add(1) })),
	}, job...)
	if _, err := s.NewJob(gocron.DurationJob(f.interval), gocron.NewTask(task), job...); err != nil {
		f.Fatal(err)
	}
	s.Start()
	return s
}

func (f *fleet) task() {
	pause(100 * time.Millisecond)
	f.runs.Add(1)
	f.ran <- struct{}{}
}

// leading returns an elector that has started.
func leading(t *testing.T, b *suite.Backend) *curatorgocron.Elector {
	t.Helper()
	client, _ := b.Client(t)
	elector, err := curatorgocron.NewElector(client, b.Path("leader"))
	if err == nil {
		err = elector.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := elector.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return elector
}

// The table of gocron's own test, TestScheduler_WithDistributed, with our Locker and Elector in place of its
// stubs: three schedulers fire at the same time.
func TestDistributed(t *testing.T) {
	for name, tt := range map[string]struct {
		scheduler     func(t *testing.T, b *suite.Backend) []gocron.SchedulerOption
		job           func(t *testing.T, b *suite.Backend) []gocron.JobOption
		runs, refused int32
	}{
		"elector": {scheduler: func(t *testing.T, b *suite.Backend) []gocron.SchedulerOption {
			return []gocron.SchedulerOption{gocron.WithDistributedElector(leading(t, b))}
		}, runs: 1},
		"locker": {scheduler: func(t *testing.T, b *suite.Backend) []gocron.SchedulerOption {
			return []gocron.SchedulerOption{gocron.WithDistributedLocker(newHost(t, b).locker)}
		}, runs: 1, refused: 2},
		"locker of the job": {job: func(t *testing.T, b *suite.Backend) []gocron.JobOption {
			return []gocron.JobOption{gocron.WithDistributedJobLocker(newHost(t, b).locker)}
		}, runs: 1, refused: 2},
		"locker disabled for the job": {scheduler: func(t *testing.T, b *suite.Backend) []gocron.SchedulerOption {
			return []gocron.SchedulerOption{gocron.WithDistributedLocker(newHost(t, b).locker)}
		}, job: func(*testing.T, *suite.Backend) []gocron.JobOption {
			return []gocron.JobOption{gocron.WithDisabledDistributedJobLocker(true)}
		}, runs: 3},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Each(t, func(t *testing.T, b *suite.Backend) {
				f := newFleet(t, time.Hour)
				var starts []func()
				for range 3 {
					var scheduler []gocron.SchedulerOption
					job := []gocron.JobOption{gocron.WithStartAt(gocron.WithStartImmediately())}
					if tt.scheduler != nil {
						scheduler = tt.scheduler(t, b)
					}
					if tt.job != nil {
						job = append(job, tt.job(t, b)...)
					}
					starts = append(starts, func() { f.start(scheduler, job, f.task) })
				}
				for _, start := range starts {
					start()
				}
				for range tt.runs {
					<-f.ran
				}
				suite.Eventually(t, "the schedulers that are refused", func() bool { return f.refused.Load() == tt.refused })
				pause(time.Second)
				if runs, refused := f.runs.Load(), f.refused.Load(); runs != tt.runs || refused != tt.refused {
					t.Errorf("%d runs and %d refused, want %d and %d", runs, refused, tt.runs, tt.refused)
				}
			})
		})
	}
}

// A short job runs once although the clocks of its hosts differ, for as much as WithMinHold allows; without
// it every host runs the job.
func TestClocksDiffer(t *testing.T) {
	for _, tt := range []struct {
		hold time.Duration
		runs int32
	}{{2 * time.Second, 1}, {0, 3}} {
		t.Run(fmt.Sprint(tt.hold), func(t *testing.T) {
			suite.Each(t, func(t *testing.T, b *suite.Backend) {
				f := newFleet(t, time.Hour)
				var hosts []*host
				for range 3 {
					hosts = append(hosts, newHost(t, b, curatorgocron.WithMinHold(tt.hold)))
				}
				at := time.Now().Add(100 * time.Millisecond)
				for i, h := range hosts {
					late := at.Add(time.Duration(i) * 400 * time.Millisecond)
					f.start([]gocron.SchedulerOption{gocron.WithDistributedLocker(h.locker)}, []gocron.JobOption{
						gocron.WithStartAt(gocron.WithStartDateTime(late)),
					}, f.task)
				}
				pause(time.Until(at.Add(2 * time.Second)))
				if runs := f.runs.Load(); runs != tt.runs {
					t.Errorf("%d runs and %d refused, want %d", runs, f.refused.Load(), tt.runs)
				}
			})
		})
	}
}

// When the host of a job is cut off, the runs go on with another host, and the job is told before the next run.
func TestHostCutOff(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		short := curatorgocron.WithMinHold(300 * time.Millisecond)
		first, second := newHost(t, b, short), newHost(t, b, short)
		f := newFleet(t, 500*time.Millisecond)
		running, told := make(chan context.Context, 1), make(chan error, 10)
		f.start([]gocron.SchedulerOption{gocron.WithDistributedLocker(first.locker)},
			[]gocron.JobOption{gocron.WithStartAt(gocron.WithStartImmediately()), gocron.WithLimitedRuns(1)},
			func(ctx context.Context) {
				ctx = first.locker.Lease("job").Bind(ctx)
				running <- ctx
				<-ctx.Done()
			})
		job := <-running
		f.start([]gocron.SchedulerOption{gocron.WithDistributedLocker(second.locker)}, nil, func() { told <- context.Cause(job) })
		suite.Eventually(t, "a run that is refused", func() bool { return f.refused.Load() > 0 })
		heal := first.network.Isolate()
		if err := <-told; !errors.Is(err, locks.ErrLockLost) {
			t.Errorf("another host runs the job, and the context of the first one says %v", err)
		}
		heal()
	})
}

// A process leads from its election until its session ends, and another one from then on.
func TestElector(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		client, network := b.Client(t)
		first, err := curatorgocron.NewElector(client, b.Path("leader"))
		if err != nil {
			t.Fatal(err)
		}
		want := func(when string, e *curatorgocron.Elector, want error) {
			t.Helper()
			if err := e.IsLeader(t.Context()); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s: %v, want %v", when, err, want)
			}
		}
		want("before Start", first, curatorgocron.ErrNotLeader)
		if err := first.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "a leader", func() bool { return first.IsLeader(t.Context()) == nil })
		second := leading(t, b)
		want("behind another", second, curatorgocron.ErrNotLeader)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := first.IsLeader(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("with an ended context: %v", err)
		}
		job := first.Lease().Bind(t.Context())
		network.Expire(t)
		suite.Eventually(t, "another leader", func() bool { return second.IsLeader(t.Context()) == nil })
		suite.Eventually(t, "the loss", func() bool { return job.Err() != nil })
		want("after the end of the session", first, curatorgocron.ErrNotLeader)
		if !errors.Is(context.Cause(job), locks.ErrLockLost) {
			t.Errorf("the context of a job: %v", context.Cause(job))
		}
		if err := first.Close(t.Context()); err != nil {
			t.Error(err)
		}
		want("closed", first, curatorgocron.ErrNotLeader)
	})
}

func TestElectorMisuse(t *testing.T) {
	if e, err := curatorgocron.NewElector(nil, "/leader"); e != nil || err == nil {
		t.Errorf("with a nil client: %v", err)
	}
	var nilContext context.Context
	for name, e := range map[string]*curatorgocron.Elector{"nil": nil, "zero value": {}} {
		if err := e.IsLeader(t.Context()); !errors.Is(err, curatorgocron.ErrNotLeader) {
			t.Errorf("%s: %v", name, err)
		}
		if e.IsLeader(nilContext) == nil || e.Start(t.Context()) == nil || e.Close(t.Context()) != nil {
			t.Errorf("%s: it starts, or cannot be closed", name)
		}
	}
}
