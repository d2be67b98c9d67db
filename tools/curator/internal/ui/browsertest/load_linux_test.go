package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

var (
	loadNodes = flag.Int("nodes", 200, "of locks, in TestLoad")
	loadRate  = flag.Int("rate", 100, "hand-overs a second, in TestLoad")
	loadTime  = flag.Duration("for", time.Second, "of TestLoad")
	loadTool  = flag.String("curator", "", "the binary of curator to measure in TestLoad; without it the page is served by the test")
)

// queueLength is the number of contenders of each lock.
const queueLength = 100

// load has locks that pass from holder to holder.
type load struct {
	t      *testing.T
	client *framework.Client
	queues [][]string // the contenders of each lock, in order
	next   int        // the queue of the next hand-over
	done   int
}

func newLoad(t *testing.T, client *framework.Client, nodes int) *load {
	t.Helper()
	l := &load{t: t, client: client, queues: make([][]string, max(1, nodes/queueLength))}
	for i := range l.queues {
		for range queueLength {
			l.join(t.Context(), i)
		}
	}
	return l
}

// join adds a contender to a queue.
func (l *load) join(ctx context.Context, i int) {
	path, err := l.client.Create().CreatingParentsIfNeeded().WithMode(framework.EphemeralSequential).WithProtection().
		WithData([]byte("10.0.0.1\nowner=load\nhost=web-1\npid=1")).ForPath(ctx, fmt.Sprintf("/load/lock-%03d/lock-", i))
	if err != nil {
		if ctx.Err() == nil {
			l.t.Error(err)
		}
		return
	}
	l.queues[i] = append(l.queues[i], path)
}

// run makes hand-overs at a rate until ctx ends.
func (l *load) run(ctx context.Context, rate int) {
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		i := l.next % len(l.queues)
		l.next++
		first := l.queues[i][0]
		l.queues[i] = l.queues[i][1:]
		if err := l.client.Delete().ForPath(ctx, first); err != nil {
			if ctx.Err() == nil {
				l.t.Error(err)
			}
			return
		}
		l.join(ctx, i)
		l.done++
	}
}

// start starts a command of the measured binary, and returns the first line that it prints.
func start(t *testing.T, args ...string) (line string, pid int) {
	t.Helper()
	cmd := exec.Command(*loadTool, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // its error names the signal
	})
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// figures returns the processor time of a process, and its resident memory.
func figures(t *testing.T, pid int) (cpu time.Duration, megabytes int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	number := func(i int) int {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const hertz, page = 100, 4096
	return time.Duration(number(11)+number(12)) * time.Second / hertz, number(21) * page >> 20
}

// pageFigures returns the processor time of the page's tasks, and the size of its heap.
func (b *tab) pageFigures() (busy time.Duration, megabytes int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	metrics, err := chromedp.Run(ctx, chromedp.Action[performance.GetMetricsResult](func(ctx context.Context, target *chromedp.Target) (performance.GetMetricsResult, error) {
		if _, err := cdp.Call(ctx, target, performance.Enable, performance.EnableParams{}); err != nil {
			return performance.GetMetricsResult{}, err
		}
		return cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
	}))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range metrics.Metrics {
		switch m.Name {
		case "TaskDuration":
			busy = time.Duration(m.Value * float64(time.Second))
		case "JSHeapUsedSize":
			megabytes = int(m.Value) >> 20
		}
	}
	return busy, megabytes
}

// TestLoad measures how soon a hand-over is on the screen, while locks with many contenders pass from
// holder to holder, and with -curator the cost of that. With -v the results are in the log.
func TestLoad(t *testing.T) {
	var f *fleet
	var b *tab
	var client *framework.Client
	pid := os.Getpid()
	if *loadTool == "" {
		f = newFleet(t, nil)
		client = f.client("load")
	} else {
		line, _ := start(t, "server", "--listen", "127.0.0.1:0")
		connect := strings.Fields(line)[0]
		client = curatortest.NewClient(t, connect)
		var address string
		address, pid = start(t, "ui", "--connect", connect, "--listen", "127.0.0.1:0", "--admin-port", "0")
		f = &fleet{t: t}
		f.address, f.secret, _ = strings.Cut(address, "#secret=")
	}
	l := newLoad(t, client, *loadNodes)
	b = f.open(1280, 900, "recipes")
	b.untilText("/load/lock-000")
	cpu, memory := figures(t, pid)
	busy, heap := b.pageFigures()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), *loadTime)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { l.run(ctx, *loadRate) })
	var delays []time.Duration
	for i := 0; i < 3 || ctx.Err() == nil; i++ {
		name := fmt.Sprintf("look-%04d", i)
		asked := time.Now()
		path := "/a/" + name
		if _, err := client.Create().CreatingParentsIfNeeded().WithMode(framework.Ephemeral).ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		b.untilText(name)
		delays = append(delays, time.Since(asked))
		if err := client.Delete().ForPath(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		b.until(fmt.Sprintf("!document.body.innerText.includes(%q)", name))
	}
	wg.Wait()
	took := time.Since(begun)
	cpuAfter, memoryAfter := figures(t, pid)
	busyAfter, heapAfter := b.pageFigures()
	slices.Sort(delays)
	t.Logf("%d nodes, %.0f hand-overs a second for %v", *loadNodes, float64(l.done)/took.Seconds(), took.Round(time.Millisecond))
	t.Logf("from a change to the screen: median %v, most %v of %d", delays[len(delays)/2].Round(time.Millisecond), delays[len(delays)-1].Round(time.Millisecond), len(delays))
	t.Logf("the server: %.1f %% of a processor, memory %d MB, then %d MB", 100*(cpuAfter-cpu).Seconds()/took.Seconds(), memory, memoryAfter)
	t.Logf("the page: busy %.1f %% of the time, heap %d MB, then %d MB", 100*(busyAfter-busy).Seconds()/took.Seconds(), heap, heapAfter)
}
