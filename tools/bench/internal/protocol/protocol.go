// Package protocol is the protocol between the benchmark and its peers, the programs that use other
// locks than ours. Each peer is a process.
//
// The last argument of a peer is the address of its service. The peer prints "ready". It then answers
// each line of its standard input, a [Request], with one line, a [Result], and ends at the end of its
// input. Between requests it is idle, so that peers can take turns; its clients stay connected.
package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The workloads. Each client has its own connection and session. An operation is an acquisition and
// the release, without a pause between them.
const (
	Solo      = "solo"      // one client on one lock
	Contend   = "contend"   // clients on one lock
	Drain     = "drain"     // waiters, distributed over the clients, get the lock one after the other
	Spread    = "spread"    // clients, each on a lock of its own
	Semaphore = "semaphore" // clients share leases
	Readers   = "readers"   // clients share a read lock
	Mix       = "mix"       // clients share a read-write lock, some acquisitions are a writer's
	Reentry   = "reentry"   // one client acquires a lock again that it holds
	TryFree   = "try-free"  // one client acquires a free lock without waiting
	TryBusy   = "try-busy"  // one client tries without waiting to acquire a lock that another client holds
	Floor     = "floor"     // each client creates and deletes its own entry

	Atomic  = "atomic"  // clients increment a number; an operation is an increment
	Barrier = "barrier" // clients enter and leave a double barrier together, in rounds with separate paths

	QueuePut     = "queue-put"     // one client puts items; an operation is an item
	QueueConsume = "queue-consume" // one client consumes Waiters items; with Leases the queue has a lock path
)

// The workloads of elections.
const (
	LeaderJoin       = "leader-join"       // one client starts a latch, waits until it leads, and closes it
	LeaderSuccession = "leader-succession" // as drain, with latches that are closed as soon as they lead
	Group            = "group"             // Waiters members join a group, until each knows all of them
)

// The workloads of caches.
const (
	CacheLoad   = "cache-load"   // one client starts a cache of Waiters nodes
	CacheFollow = "cache-follow" // one client writes as fast as it can while a cache of another follows
)

// The workloads of service discovery.
const (
	DiscoveryRegister = "discovery-register" // one client registers an instance and unregisters it
	DiscoveryChoose   = "discovery-choose"   // one client chooses one of ten instances; 1,000 choices are one operation
	DiscoveryQuery    = "discovery-query"    // one client queries Waiters instances
)

// The requests of a crash. It needs two peers: one that holds the lock and is then killed, and one
// that waits for the lock.
const (
	Hold   = "hold"   // acquire a lock, with a session that expires Timeout after the peer's end; hold it until then
	Queued = "queued" // return when somebody waits for the lock that this peer holds
	Wait   = "wait"   // wait for the lock, and release it; ElapsedNS is the time since it was granted
)

// Ready is the first line of a peer.
const Ready = "ready"

// ErrUnsupported is matched by the error for a workload that a peer does not have.
var ErrUnsupported = errors.New("unsupported workload")

// Request asks a peer to run a workload.
type Request struct {
	Workload   string `json:"workload"`
	Clients    int    `json:"clients"` // 1 if it is not positive
	Waiters    int    `json:"waiters"` // for drain, and for the workloads that name it
	Leases     int    `json:"leases"`  // for semaphore, and for queue-consume
	Writes     int    `json:"writes"`  // for mix: the percentage of acquisitions by writers, at random
	Path       string `json:"path"`    // nothing else uses nodes below this path
	WarmupMS   int64  `json:"warmup_ms"`
	DurationMS int64  `json:"duration_ms"`
	TimeoutMS  int64  `json:"timeout_ms"` // for hold
}

// Warmup returns how long the workload runs before operations are counted.
func (r Request) Warmup() time.Duration { return time.Duration(r.WarmupMS) * time.Millisecond }

// Duration returns how long operations are counted. Drain has no fixed duration.
func (r Request) Duration() time.Duration { return time.Duration(r.DurationMS) * time.Millisecond }

// Timeout returns how long after its process a holder's session ends, as exactly as the service
// permits.
func (r Request) Timeout() time.Duration { return time.Duration(r.TimeoutMS) * time.Millisecond }

// ClientCount returns the number of clients of the workload.
func (r Request) ClientCount() int {
	if r.Workload == Solo {
		return 1
	}
	return max(1, r.Clients)
}

// MaxLatencies is the maximum number of latencies in a result.
const MaxLatencies = 100_000

// Result is the result of a request.
//
// The operations are those that ended in the time that is counted, which is ElapsedNS. The latencies
// are the durations of the operations, with their waits. For drain the operations are the hand-overs,
// ElapsedNS is the time from the release of the gate to the last release, and the latencies are the
// times between two grants, the first of them since the release of the gate.
type Result struct {
	Operations  int64   `json:"operations"`
	ElapsedNS   int64   `json:"elapsed_ns"`
	LatenciesNS []int64 `json:"latencies_ns"`
	Error       string  `json:"error"`
}

// Err returns the error that the peer has reported.
func (r Result) Err() error {
	switch r.Error {
	case "":
		return nil
	case ErrUnsupported.Error():
		return ErrUnsupported
	}
	return errors.New(r.Error)
}

// Sample returns the latencies for a result. If there are more than MaxLatencies, it takes every n-th
// of them.
func Sample(latencies []int64) []int64 {
	if len(latencies) <= MaxLatencies {
		return latencies
	}
	sample := make([]int64, 0, MaxLatencies)
	for i := range MaxLatencies {
		sample = append(sample, latencies[i*len(latencies)/MaxLatencies])
	}
	return sample
}

// Workload runs a request. Its error becomes the error of the result.
type Workload func(ctx context.Context, r Request) (Result, error)

// Serve is the peer's side of the protocol, for peers in Go. It answers requests until the input or ctx
// ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, workloads map[string]Workload) error {
	if _, err := fmt.Fprintln(out, Ready); err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if err := answers.Encode(answer(ctx, lines.Bytes(), workloads)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func answer(ctx context.Context, line []byte, workloads map[string]Workload) Result {
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return Result{Error: err.Error()}
	}
	run := workloads[r.Workload]
	if run == nil {
		return Result{Error: ErrUnsupported.Error()}
	}
	result, err := run(ctx, r)
	if err != nil {
		return Result{Error: err.Error()}
	}
	return result
}
