package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// scripted is a peer that records its turns.
type scripted struct {
	name  string
	turns *[]string
	do    func(w workload, path string) (measure.Run, error)
}

func (s scripted) run(_ context.Context, w workload, path string, t timing) (measure.Run, error) {
	*s.turns = append(*s.turns, fmt.Sprintf("%s %s %v", s.name, path, t.warmUp))
	return s.do(w, path)
}

func (s scripted) close() error { return fmt.Errorf("closed %s", s.name) }

// kind returns the peer as a PeerKind. err is the error of its start.
func (s scripted) kind(err error) PeerKind {
	return PeerKind{name: s.name, start: func(context.Context, *services) (peer, error) { return s, err }}
}

func newBench(rounds int) *bench {
	return &bench{
		services: &services{}, timing: timing{time.Second, 10 * time.Second}, rounds: rounds,
		progress: io.Discard, started: map[string]peer{}, file: &results.File{},
	}
}

func fine(workload, string) (measure.Run, error) {
	return measure.Run{Operations: 1, Elapsed: 6 * time.Second}, nil
}

// TestTurns runs four peers. One cannot be started, one does not have the workload, and one fails in
// its second turn.
func TestTurns(t *testing.T) {
	var turns []string
	calls := 0
	kinds := []PeerKind{
		scripted{"a", &turns, fine}.kind(nil),
		scripted{"b", &turns, func(w workload, path string) (measure.Run, error) {
			if w.name == "one" {
				return measure.Run{}, errUnsupported
			}
			return fine(w, path)
		}}.kind(nil),
		scripted{"c", &turns, func(w workload, path string) (measure.Run, error) {
			if calls++; calls == 2 {
				return measure.Run{}, errors.New("broken")
			}
			return fine(w, path)
		}}.kind(nil),
		scripted{"d", &turns, fine}.kind(errors.New("not installed")),
	}
	b := newBench(3)
	err := b.run(t.Context(), []workload{{name: "one"}, {name: "two", repeat: true}}, kinds)
	if err == nil || !strings.Contains(err.Error(), "1 turns have failed") {
		t.Errorf("error %v", err)
	}
	want := []string{
		"a /bench/one/a/0 1s", "b /bench/one/b/0 1s", "c /bench/one/c/0 1s", // b does not have the workload
		"c /bench/one/c/1 1s", "a /bench/one/a/1 1s", // c fails
		"a /bench/one/a/2 1s",
		"a /bench/two/a/0/0 1s", "a /bench/two/a/0/1 0s", "b /bench/two/b/0/0 1s", "b /bench/two/b/0/1 0s", "c /bench/two/c/0/0 1s", "c /bench/two/c/0/1 0s",
		"b /bench/two/b/1/0 1s", "b /bench/two/b/1/1 0s", "c /bench/two/c/1/0 1s", "c /bench/two/c/1/1 0s", "a /bench/two/a/1/0 1s", "a /bench/two/a/1/1 0s",
		"c /bench/two/c/2/0 1s", "c /bench/two/c/2/1 0s", "a /bench/two/a/2/0 1s", "a /bench/two/a/2/1 0s", "b /bench/two/b/2/0 1s", "b /bench/two/b/2/1 0s",
	}
	if !slices.Equal(turns, want) {
		t.Errorf("turns:\n%s\nwant:\n%s", strings.Join(turns, "\n"), strings.Join(want, "\n"))
	}
	absent := []results.Absent{
		{Peer: "d", Reason: "not installed"},
		{Peer: "c", Workload: "one", Reason: "failed in round 2: broken"},
	}
	if !slices.Equal(b.file.Absent, absent) {
		t.Errorf("absent: %+v", b.file.Absent)
	}
	if runs := b.file.Runs("two", "a"); len(runs) != 3 || runs[2].Operations != 2 || runs[2].Elapsed != 12*time.Second {
		t.Errorf("two turns as one: %+v", runs)
	}
	if runs := b.file.Runs("one", "c"); len(runs) != 1 {
		t.Errorf("what was measured before the failure: %+v", runs)
	}
	if err := b.close(); err == nil || strings.Count(err.Error(), "closed") != 3 {
		t.Errorf("close: %v", err)
	}
}

// TestInterruptedTurn interrupts a benchmark during a start and during a turn. No peer counts as
// failed.
func TestInterruptedTurn(t *testing.T) {
	for name, during := range map[string]func(interrupt func()) PeerKind{
		"turn": func(interrupt func()) PeerKind {
			return scripted{"a", new([]string), func(workload, string) (measure.Run, error) {
				interrupt()
				return measure.Run{}, errors.New("interrupted")
			}}.kind(nil)
		},
		"start": func(interrupt func()) PeerKind {
			return PeerKind{name: "a", start: func(context.Context, *services) (peer, error) {
				interrupt()
				return nil, errors.New("interrupted")
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			b := newBench(1)
			err := b.run(ctx, []workload{{name: "one"}}, []PeerKind{during(cancel)})
			if !errors.Is(err, context.Canceled) || len(b.file.Absent) > 0 {
				t.Errorf("error %v, absent %v", err, b.file.Absent)
			}
		})
	}
}

// TestInterrupt interrupts a benchmark between two turns. The results so far are kept.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var turns []string
	b := newBench(3)
	err := b.run(ctx, []workload{{name: "one"}}, []PeerKind{
		scripted{"a", &turns, fine}.kind(nil),
		scripted{"b", &turns, func(workload, string) (measure.Run, error) {
			cancel()
			return fine(workload{}, "")
		}}.kind(nil),
	})
	if !errors.Is(err, context.Canceled) || len(b.file.Turns) != 2 || len(turns) != 2 {
		t.Errorf("error %v, turns %v", err, turns)
	}
}

// TestRepeatEnds repeats a workload that takes no time.
func TestRepeatEnds(t *testing.T) {
	var turns []string
	p := scripted{"a", &turns, func(workload, string) (measure.Run, error) { return measure.Run{Operations: 1}, nil }}
	run, err := newBench(1).repeat(t.Context(), p, workload{repeat: true}, "/x")
	if err != nil || run.Operations != maxRepeats {
		t.Errorf("%+v, %v", run, err)
	}
}

func TestChoose(t *testing.T) {
	names := func(o options) string {
		chosen, err := o.choose()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, w := range chosen {
			names = append(names, w.name)
		}
		return strings.Join(names, " ")
	}
	for want, o := range map[string]options{
		"drain-10 drain-100 drain-1000":                                                         {match: "^drain-1", quick: true, distance: time.Second},
		"floor solo contend-8 drain-300 semaphore readers":                                      {quick: true},
		"floor solo contend-2 contend-8 drain-100 spread-8 semaphore readers try-free try-busy": {distance: time.Second},
	} {
		if got := names(o); got != want {
			t.Errorf("chosen: %q, want %q", got, want)
		}
	}
	if _, err := (&options{match: "("}).choose(); err == nil {
		t.Error("no expression, and no error")
	}
	all := workloads()
	if chosen, err := new(options).choose(); err != nil || len(chosen) != len(all) {
		t.Errorf("without a choice: %d of %d, %v", len(chosen), len(all), err)
	}
	seen := map[string]bool{}
	for _, w := range all {
		if seen[w.name] || w.about == "" || w.local == nil {
			t.Errorf("%s: named twice, says nothing, or cannot be done", w.name)
		}
		seen[w.name] = true
	}
}

func TestChoosePeers(t *testing.T) {
	more := []PeerKind{OnZooKeeper("other", false, thisProgram), OnZooKeeper("fast", true, thisProgram)}
	for want, tt := range map[string]struct {
		more  []PeerKind
		named string
		quick bool
	}{
		"floor floor-list floor-pair floor-watch raw curator curator-v2 zk.Lock java": {},
		"floor floor-list floor-pair floor-watch curator zk.Lock java fast":           {more: more, quick: true},
		"java other curator": {more, "java,other,curator", true},
	} {
		kinds, err := choosePeers(tt.more, tt.named, tt.quick)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, k := range kinds {
			names = append(names, k.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("chosen: %q, want %q", got, want)
		}
	}
	if _, err := choosePeers(nil, "curator,cobol", false); err == nil || !strings.Contains(err.Error(), "cobol") {
		t.Errorf("an unknown one: %v", err)
	}
}

func TestFlags(t *testing.T) {
	draw := func(context.Context, *results.File, string) error { return nil }
	for name, tt := range map[string]struct {
		command Command
		args    string
		want    options // only its rounds, times and plots are checked
		fails   bool
	}{
		"none":                {want: options{rounds: 5, warmUp: time.Second, duration: 3 * time.Second}},
		"quick":               {args: "-quick -rounds 2", want: options{rounds: 2, warmUp: 300 * time.Millisecond, duration: time.Second}},
		"plots":               {Command{Draw: draw}, "-plots x -warm-up 1ms -duration 2ms", options{outputs: outputs{plots: "x"}, rounds: 5, warmUp: 1e6, duration: 2e6}, false},
		"plots not available": {args: "-plots x", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := options{Command: tt.command}
			err := o.parse(strings.Fields(tt.args))
			if (err != nil) != tt.fails {
				t.Fatal(err)
			}
			if !tt.fails && (o.rounds != tt.want.rounds || o.warmUp != tt.want.warmUp || o.duration != tt.want.duration || o.outputs.plots != tt.want.outputs.plots) {
				t.Errorf("%+v", o)
			}
		})
	}
	if err := (Command{}).Run(t.Context(), []string{"-h"}); err != nil {
		t.Errorf("help: %v", err)
	}
}
