package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/tools/curatortest"
)

// load is the result of a measurement. Numbers are per second, and processor times in milliseconds.
type load struct {
	packets    float64
	servers    float64
	clients    float64
	most       int     // the most packets in one sample
	unevenness float64 // the ratio of most to the mean
}

// sample is the time between two requests for the number of received packets.
const sample = 100 * time.Millisecond

func measure(ctx context.Context, e *curatortest.Ensemble, window time.Duration) (load, error) {
	begun := time.Now()
	cpu, err := processorTimes()
	if err != nil {
		return load{}, err
	}
	first, err := received(ctx, e)
	if err != nil {
		return load{}, err
	}
	var l load
	last, samples := first, 0
	every := time.NewTicker(sample)
	defer every.Stop()
	for time.Since(begun) < window {
		select {
		case <-every.C:
		case <-ctx.Done():
			return load{}, ctx.Err()
		}
		now, err := received(ctx, e)
		if err != nil {
			return load{}, err
		}
		l.most = max(l.most, now-last)
		last = now
		samples++
	}
	seconds := time.Since(begun).Seconds()
	after, err := processorTimes()
	if err != nil {
		return load{}, err
	}
	l.packets = float64(last-first) / seconds
	l.servers = float64((after.children - cpu.children).Microseconds()) / 1000 / seconds
	l.clients = float64((after.own - cpu.own).Microseconds()) / 1000 / seconds
	l.unevenness = float64(l.most) / max(float64(last-first)/float64(samples), 1)
	return l, nil
}

var receivedLine = regexp.MustCompile(`(?m)^Received: (\d+)`)

// received returns the number of packets that the servers have received. The request itself is not
// counted.
func received(ctx context.Context, e *curatortest.Ensemble) (n int, err error) {
	for _, m := range e.Members() {
		answer, err := realservers.Ask(ctx, m.ConnectString(), "srvr")
		if err != nil {
			return 0, err
		}
		match := receivedLine.FindSubmatch(answer)
		if match == nil {
			return 0, fmt.Errorf("server %s does not report the packets that it has received: %q", m.ConnectString(), answer)
		}
		packets, err := strconv.Atoi(string(match[1]))
		if err != nil {
			return 0, err
		}
		n += packets
	}
	return n, nil
}

type processors struct{ own, children time.Duration }

// processorTimes returns the processor time of this process and of its children, the servers.
// It reads Linux's /proc.
func processorTimes() (p processors, err error) {
	processes, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return p, err
	}
	self := strconv.Itoa(os.Getpid())
	for _, process := range processes {
		stat, err := os.ReadFile(process)
		if err != nil {
			continue // the process has ended meanwhile
		}
		used, parent, err := parseStat(stat)
		switch {
		case err != nil:
			return p, fmt.Errorf("%s: %w", process, err)
		case process == "/proc/"+self+"/stat":
			p.own = used
		case parent == self:
			p.children += used
		}
	}
	if p.own == 0 {
		return p, errors.New("there is no /proc in the form of Linux")
	}
	return p, nil
}

// parseStat reads a process's /proc/PID/stat.
func parseStat(stat []byte) (used time.Duration, parent string, err error) {
	// The name in parentheses may contain any characters. It is followed by the state, the parent, ...
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, "", fmt.Errorf("%q is too short", stat)
	}
	for _, ticks := range fields[11:13] { // utime, stime, in hundredths of a second
		n, err := strconv.Atoi(ticks)
		if err != nil {
			return 0, "", err
		}
		used += time.Duration(n) * 10 * time.Millisecond
	}
	return used, fields[1], nil
}
