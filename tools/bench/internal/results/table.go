package results

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// column is a column of a table. A table has the columns for which at least one peer has a value.
type column struct {
	title  string
	show   func(measure.Spread) string
	figure func(measure.Run) (value float64, ok bool)
}

var columns = []column{
	{"per second (min to max)", withRange, func(r measure.Run) (float64, bool) { return r.Rate(), true }},
	{"ms each", millis, func(r measure.Run) (float64, bool) { return r.Each(float64(r.Elapsed)), true }},
	{"p50 ms", millis, latency(func(l measure.Latency) time.Duration { return l.P50 })},
	{"p99 ms", millis, latency(func(l measure.Latency) time.Duration { return l.P99 })},
	{"p99.9 ms", millis, latency(func(l measure.Latency) time.Duration { return l.P999 })},
	{"requests", oneDigit, wire(func(w *measure.Wire) int64 { return w.Requests })},
	{"bytes", whole, wire((*measure.Wire).Bytes)},
	{"allocations", whole, cost(func(c *measure.Cost) int64 { return c.Allocations })},
	{"allocated bytes", whole, cost(func(c *measure.Cost) int64 { return c.AllocatedBytes })},
	{"CPU µs", micros, cost(func(c *measure.Cost) int64 { return int64(c.CPU) })},
	{"memory KiB", kibi, memory(measure.Memory.Total)},
	{"of it stacks", kibi, memory(func(m measure.Memory) float64 { return m.Stacks })},
}

func latency(of func(measure.Latency) time.Duration) func(measure.Run) (float64, bool) {
	return func(r measure.Run) (float64, bool) { d := of(r.Latency); return float64(d), d > 0 }
}

func wire(of func(*measure.Wire) int64) func(measure.Run) (float64, bool) {
	return func(r measure.Run) (float64, bool) {
		if r.Wire == nil {
			return 0, false
		}
		n := of(r.Wire)
		return r.Each(float64(n)), n != 0
	}
}

func cost(of func(*measure.Cost) int64) func(measure.Run) (float64, bool) {
	return func(r measure.Run) (float64, bool) {
		if r.Cost == nil {
			return 0, false
		}
		return r.Each(float64(of(r.Cost))), true
	}
}

func memory(of func(measure.Memory) float64) func(measure.Run) (float64, bool) {
	return func(r measure.Run) (float64, bool) {
		if r.Memory == nil {
			return 0, false
		}
		return of(*r.Memory), true
	}
}

func withRange(s measure.Spread) string {
	return fmt.Sprintf("%s (%s to %s)", significant(s.Median), significant(s.Min), significant(s.Max))
}
func millis(s measure.Spread) string   { return significant(s.Median / float64(time.Millisecond)) }
func micros(s measure.Spread) string   { return significant(s.Median / float64(time.Microsecond)) }
func kibi(s measure.Spread) string     { return fmt.Sprintf("%.1f", s.Median/1024) }
func oneDigit(s measure.Spread) string { return fmt.Sprintf("%.1f", s.Median) }
func whole(s measure.Spread) string    { return fmt.Sprintf("%.0f", s.Median) }

// significant returns a number as text with two or three significant digits.
func significant(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	places := 1 - int(math.Floor(math.Log10(max(x, 1e-9))))
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', places, 64), "0"), ".")
}

// Markdown writes a table for each workload, with a row for each peer.
func (f *File) Markdown(out io.Writer) error {
	var b strings.Builder
	f.heading(&b)
	for _, w := range f.Workloads {
		if len(f.Peers(w.Name)) > 0 {
			f.table(&b, w)
		}
	}
	if len(f.Absent) > 0 {
		b.WriteString("\n## Absent\n\n| peer | workload | reason |\n| --- | --- | --- |\n")
		for _, a := range f.Absent {
			workload := a.Workload
			if workload == "" {
				workload = "all"
			}
			reason := strings.ReplaceAll(strings.Join(strings.Fields(a.Reason), " "), "|", `\|`)
			fmt.Fprintf(&b, "| %s | %s | %s |\n", a.Peer, workload, reason)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// quiet is the share of the CPUs up to which other programs do not make the results provisional.
const quiet = 0.1

// share returns a share as text.
func share(s *float64) string {
	if s == nil {
		return "an unknown part"
	}
	return fmt.Sprintf("%.0f %%", 100**s)
}

// servers describes the servers.
func (s *Setting) servers() string {
	if s.Running {
		return "A server that ran before, with the version " + s.Server
	}
	servers := "one server"
	if s.Servers > 1 {
		servers = fmt.Sprintf("an ensemble of %d servers", s.Servers)
	}
	disk := "which writes to its disk before it answers"
	if s.Unsynced {
		disk = "which answers before its log is on the disk (forceSync=no)"
	}
	return fmt.Sprintf("ZooKeeper %s, %s on the same machine, %s", s.Server, servers, disk)
}

// heading writes where the results come from, and how to read them.
func (f *File) heading(b *strings.Builder) {
	s := f.Setting
	fmt.Fprintf(b, "# Locks, side by side\n\n%s. %s; %s, %s with %d CPUs, of which others used %s before the start.\n",
		s.Date.UTC().Format(time.DateOnly), s.servers(), s.Go, s.System, s.CPUs, share(s.Others))
	if s.Distance > 0 {
		fmt.Fprintf(b, "Each message is delayed by %v, in each direction.\n", s.Distance)
	}
	if s.Others != nil && *s.Others > quiet {
		b.WriteString("\n**Other programs used the machine: these results are provisional.**\n")
	}
	fmt.Fprintf(b, "\nThe peers took turns, %d rounds of %v after a warm-up of %v. Values are medians of the rounds, and per operation; "+
		"an operation is an acquisition and a release, unless the workload says otherwise. Compare values only with others of the same table.\n",
		s.Rounds, s.Duration, s.WarmUp)
}

// table writes the table of a workload.
func (f *File) table(b *strings.Builder, w Workload) {
	peers := f.Peers(w.Name)
	var shown []column
	for _, c := range columns {
		for _, peer := range peers {
			if _, ok := f.Spread(w.Name, peer, c.figure); ok {
				shown = append(shown, c)
				break
			}
		}
	}
	fmt.Fprintf(b, "\n## %s\n\n%s%s.\n\n| peer |", w.Name, strings.ToUpper(w.About[:1]), w.About[1:])
	for _, c := range shown {
		fmt.Fprintf(b, " %s |", c.title)
	}
	fmt.Fprintf(b, " %s is |\n| --- |%s --- |\n", Ours, strings.Repeat(" --- |", len(shown)))
	for _, peer := range peers {
		fmt.Fprintf(b, "| %s |", peer)
		for _, c := range shown {
			cell := ""
			if s, ok := f.Spread(w.Name, peer, c.figure); ok {
				cell = c.show(s)
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		ratio, ok := f.Ratio(w.Name, peer)
		if ok && peer != Ours {
			fmt.Fprintf(b, " %s times as fast", significant(ratio))
		}
		b.WriteString(" |\n")
	}
}
