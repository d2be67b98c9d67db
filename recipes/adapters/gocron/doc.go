// Package curatorgocron lets the schedulers of github.com/go-co-op/gocron/v2 in several processes share
// their jobs: each run of a job happens in one of them. It is a module of its own, so programs without
// gocron do not depend on gocron.
//
//	locker, err := curatorgocron.NewLocker(client, "/jobs", curatorgocron.WithMinHold(5*time.Second))
//	...
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//
// [Locker] takes a lock for each run of a job, so the runs of different jobs spread over the processes.
// [Elector] lets one process run all jobs, until it ends or loses its session.
//
// # Clocks
//
// Every scheduler fires by the clock of its host. If a lock were released when its job ends, a host
// whose clock is behind would get the lock of a short job again, and would run it twice. So a lock
// stays held for the time of [WithMinHold], and Lock gives up after half of that time. A run happens
// once if the schedulers fire within half of WithMinHold of each other. A host that was paused for
// longer, for example a virtual machine, runs the job again.
//
// # Which jobs
//
// So a Locker is for jobs that all hosts fire at the same moment: those of gocron.CronJob, gocron.DailyJob,
// gocron.WeeklyJob and gocron.MonthlyJob, in the same time zone, and of gocron.DurationJob with a
// gocron.WithStartAt that is the same on all hosts, such as the next full hour for a job of every hour. Other jobs run
// on several hosts, each time when the lock of the last run is free. Use an Elector for these:
//
//   - A gocron.DurationJob without gocron.WithStartAt counts from the start of its own scheduler, and a
//     gocron.DurationRandomJob has moments of its own on each host.
//   - With gocron.WithIntervalFromCompletion the next run depends on the end of the last one on this host.
//   - With gocron.LimitModeWait, as in gocron.WithLimitConcurrentJobs, a run may wait in the queue of its scheduler
//     before it asks for the lock, until after another host has run the job and released the lock.
//
// # Losing a lock
//
// gocron takes no context from a lock: it goes on with a job whose lock is lost, and another process may
// run the job meanwhile. The job has to look itself:
//
//	func(ctx context.Context) error {
//		lease := locker.Lease("report")
//		ctx = lease.Bind(ctx) // it ends when the lock is lost, and when the scheduler shuts down
//		return write(ctx, lease.Token())
//	}
//
// A job that takes no context should look at Lease.Err between its steps. What it writes should be
// guarded by the token: see package locks. Without state.SessionErrorPolicy a client gives up its locks as
// soon as the connection is lost; with it they live as long as the session.
//
// # What is not guaranteed
//
// A run is left out in these cases: no process reaches ZooKeeper in time; the process that has the lock ends
// during the job, or before it; the lock of the last run is still held. gocron does not repeat a run. When a
// process ends or loses its session before WithMinHold has passed, ZooKeeper deletes its lock early, and
// a host whose clock is behind runs the job again: Close of a Locker waits for that time.
// With an Elector a run can happen twice, or not at all, when the leader changes at about that time. Jobs that
// must not be done twice should record in their own data what was done.
//
// # Concurrency
//
// Locker and Elector may be used by several goroutines, and by several schedulers.
package curatorgocron
