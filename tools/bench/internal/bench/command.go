// Package bench is the command of the benchmark. It measures the locks and the other recipes of this
// module, and compares them with other implementations.
//
// It starts a real ZooKeeper, lets the peers take turns, and prints a table for each workload. The
// peers of this package run in this process, but for Java Curator. A program that imports the package
// can add its own peers, as tools/bench/compare does. docs/benchmarks has the results, and explains
// them.
package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// Command is the command of the benchmark. The zero value has the peers of this package and draws no
// plots.
type Command struct {
	Peers []PeerKind // further peers, after those of this package

	// Draw draws the results, as SVG, into a directory. If it is nil, there is no flag -plots.
	Draw func(ctx context.Context, figures *results.File, directory string) error
}

// options has the values of the flags.
type options struct {
	Command

	quick    bool
	match    string
	peers    string
	rounds   int
	warmUp   time.Duration
	duration time.Duration
	servers  int
	connect  string
	unsynced bool
	distance time.Duration
	relayed  bool
	outputs  outputs
	profiles profiles
}

// outputs are the files that a report is written to, and the record that it is compared with; "" for none.
type outputs struct {
	json      string
	markdown  string
	plots     string
	recorded  string
	tolerance float64
}

// profiles are the files for profiles of this process; "" for none.
type profiles struct{ processor, heap string }

// Main runs the command with the arguments of this process, and ends the process. After an interrupt
// the command reports its results so far and ends.
func (c Command) Main() {
	if len(os.Args) == 5 && os.Args[1] == holdCommand {
		exit(hold(context.Background(), os.Args[2], os.Args[3], os.Args[4]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := c.Run(ctx, os.Args[1:])
	stop()
	exit(err)
}

// Run runs the command with arguments, without the program's name. When ctx ends first, it reports its
// results so far and returns an error that matches ctx.Err(). If a turn has failed, Run returns an
// error after the report.
func (c Command) Run(ctx context.Context, args []string) error {
	o := options{Command: c}
	if err := o.parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	start := startZooKeeper(o.unsynced)
	if o.connect != "" {
		start = runningServers(o.connect)
	}
	return o.run(ctx, start)
}

// parse sets the options from the arguments.
func (o *options) parse(args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "run only the most important workloads and peers, in less than 5 minutes")
	flags.StringVar(&o.match, "run", "", "run only workloads whose names match this regular expression")
	flags.StringVar(&o.peers, "peers", "", "measure only the peers with these names, separated by commas")
	flags.IntVar(&o.rounds, "rounds", 0, "the number of turns of each peer for each workload (default 5)")
	flags.DurationVar(&o.warmUp, "warm-up", 0, "how long a turn runs before operations are counted (default 1s, 300ms with -quick)")
	flags.DurationVar(&o.duration, "duration", 0, "how long operations are counted in a turn (default 3s, 1s with -quick)")
	flags.IntVar(&o.servers, "ensemble", 1, "the number of ZooKeeper servers")
	flags.StringVar(&o.connect, "connect", "", "measure with these running servers: host:port, separated by commas")
	flags.BoolVar(&o.unsynced, "no-force-sync", false, "let servers answer before their log is on the disk, so that the processor is measured, not the disk")
	flags.DurationVar(&o.distance, "distance", 0, "delay all messages by this time, in each direction; without -run, run only workloads that depend on it")
	flags.BoolVar(&o.relayed, "relay", false, "count the messages of peers in other processes, by a relay that makes them slower")
	flags.StringVar(&o.outputs.json, "json", "", "write all results to this file, as JSON; compressed if its name ends with .gz")
	flags.StringVar(&o.outputs.markdown, "markdown", "", "write the tables also to this file")
	if o.Draw != nil {
		flags.StringVar(&o.outputs.plots, "plots", "", "draw the results, as SVG, into this directory")
	}
	flags.StringVar(&o.outputs.recorded, "check", "", "compare the ratios with those of the results in this file")
	flags.Float64Var(&o.outputs.tolerance, "tolerance", 0.25, "the share by which a ratio may be smaller than the recorded one")
	flags.StringVar(&o.profiles.processor, "cpuprofile", "", "write a CPU profile of this process to this file")
	flags.StringVar(&o.profiles.heap, "memprofile", "", "write a heap profile of this process to this file, taken while 10,000 goroutines wait for our locks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.setDefaults()
	return nil
}

// exit ends the program.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// setDefaults sets the options that no flag has set.
func (o *options) setDefaults() {
	rounds, warmUp, duration := 5, time.Second, 3*time.Second
	if o.quick {
		rounds, warmUp, duration = 5, 300*time.Millisecond, time.Second
	}
	if o.rounds == 0 {
		o.rounds = rounds
	}
	if o.warmUp == 0 {
		o.warmUp = warmUp
	}
	if o.duration == 0 {
		o.duration = duration
	}
}

// choose returns the workloads whose names match -run. Without -run it returns all, those of a quick
// run, or with a distance those in which round trips matter.
func (o *options) choose() ([]workload, error) {
	match, err := regexp.Compile(o.match)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(workloads(), func(w workload) bool {
		switch {
		case o.match != "":
			return !match.MatchString(w.name)
		case o.quick:
			return !w.quick
		}
		return o.distance > 0 && !w.distant
	}), nil
}

// run starts servers, measures, and reports. When it is interrupted, it reports the results so far.
func (o *options) run(ctx context.Context, start func(n int) (addresses []string, stop func() error, err error)) (err error) {
	workloads, err := o.choose()
	if err != nil {
		return err
	}
	kinds, err := choosePeers(o.Peers, o.peers, o.quick)
	if err != nil {
		return err
	}
	var recorded *results.File
	if o.outputs.recorded != "" {
		if recorded, err = results.Read(o.outputs.recorded); err != nil {
			return err
		}
	}
	setting := o.setting(ctx) // before the servers start, because their start uses the processor
	servers, stop, err := start(o.servers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	file, err := o.measure(ctx, servers, setting, workloads, kinds)
	if file == nil {
		return err
	}
	return errors.Join(err, o.report(ctx, file, recorded))
}

// measure runs the workloads. After an error, file has the results until then.
func (o *options) measure(ctx context.Context, servers []string, setting results.Setting, workloads []workload, kinds []PeerKind) (file *results.File, err error) {
	s, end, err := newServices(servers, o.distance, o.relayed)
	if err != nil {
		return nil, err
	}
	defer end()
	s.warmUp, s.heapProfile = min(5*o.duration, 15*time.Second), o.profiles.heap
	if setting.Server, err = serverVersion(servers[0]); err != nil {
		return nil, err
	}
	b := &bench{
		services: s, timing: timing{o.warmUp, o.duration}, rounds: o.rounds,
		progress: os.Stderr, started: map[string]peer{}, file: &results.File{Setting: setting},
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := warmServer(ctx, s.zooKeeper, s.warmUp); err != nil {
		return nil, err
	}
	stop, err := o.startProfile()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return b.file, b.run(ctx, workloads, kinds)
}

// startProfile starts the CPU profile if -cpuprofile is set.
func (o *options) startProfile() (stop func() error, err error) {
	if o.profiles.processor == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(o.profiles.processor)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// lookAround is how long the processor use of other programs is measured.
const lookAround = 500 * time.Millisecond

// setting returns the setting of the run. It is called while this process is idle, so that the
// processor use is that of other programs.
func (o *options) setting(ctx context.Context) results.Setting {
	s := results.Setting{
		Date: time.Now(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Servers: o.servers, Unsynced: o.unsynced, Running: o.connect != "", Distance: o.distance, Relayed: o.relayed,
		Rounds: o.rounds, WarmUp: o.warmUp, Duration: o.duration,
	}
	if share, ok := measure.Others(ctx, lookAround); ok {
		s.Others = &share
	}
	return s
}

// report writes the outputs that the flags ask for.
func (o *options) report(ctx context.Context, file, recorded *results.File) error {
	errs := []error{file.Markdown(os.Stdout)}
	if o.outputs.json != "" {
		errs = append(errs, file.Write(o.outputs.json))
	}
	if o.outputs.markdown != "" {
		f, err := os.Create(o.outputs.markdown)
		if err == nil {
			err = errors.Join(file.Markdown(f), f.Close())
		}
		errs = append(errs, err)
	}
	if o.outputs.plots != "" {
		errs = append(errs, o.Draw(context.WithoutCancel(ctx), file, o.outputs.plots))
	}
	if recorded != nil {
		fmt.Println("\nHow many times as fast as other peers, compared with the record:")
		errs = append(errs, file.Check(recorded, o.outputs.tolerance, os.Stdout))
	}
	return errors.Join(errs...)
}
