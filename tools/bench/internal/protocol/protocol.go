// Package protocol is how the benchmark speaks with the programs that use other locks than
// ours, each in a process of its own, the peers.
//
// A peer is given the address of its service as its last argument. It prints "ready", then
// answers each line of its standard input, a [Request], with one line, a [Result], and ends
// with its input. Between requests it is idle, so that peers can take turns; its clients
// stay connected.
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

// The workloads. Each client has a connection, and a session, of its own. An operation is
// one acquisition with the release that follows at once, without a pause in between.
const (
	Solo      = "solo"      // one client on one lock
	Contend   = "contend"   // clients on one lock
	Drain     = "drain"     // waiters, spread over the clients, are let in one after the other
	Spread    = "spread"    // clients, each on a lock of its own
	Semaphore = "semaphore" // clients share leases
	Readers   = "readers"   // clients share a read lock
	Mix       = "mix"       // clients share a read-write lock, some acquisitions are a writer's
	Reentry   = "reentry"   // one client acquires again what it holds
	TryFree   = "try-free"  // one client asks without waiting for a lock that is free
	TryBusy   = "try-busy"  // one client asks without waiting for a lock that another one holds
	Floor     = "floor"     // clients, each creates and deletes an entry of its own

	Atomic  = "atomic"  // clients add one to a number, each addition an operation
	Barrier = "barrier" // clients enter and leave a double barrier together, in rounds with paths of their own

	QueuePut     = "queue-put"     // one client puts items, each an operation
	QueueConsume = "queue-consume" // one client consumes as many items as there are waiters, with a lock path if there are leases
)

// The workloads of elections.
const (
	LeaderJoin       = "leader-join"       // one client starts a latch, waits until it leads, and closes it
	LeaderSuccession = "leader-succession" // as drain, with latches, which are closed as soon as they lead
	Group            = "group"             // as many members as there are waiters join a group, until each knows all
)

// The workloads of caches.
const (
	CacheLoad   = "cache-load"   // one client starts a cache of as many nodes as there are waiters
	CacheFollow = "cache-follow" // one client writes as fast as it can while a cache of another follows
)

// The workloads of service discovery.
const (
	DiscoveryRegister = "discovery-register" // one client registers an instance and unregisters it
	DiscoveryChoose   = "discovery-choose"   // one client chooses an instance of ten 1,000 times, which is one operation
	DiscoveryQuery    = "discovery-query"    // one client queries as many instances as there are waiters
)

// What a crash is made of. It takes two peers: one that holds the lock, and is then killed,
// and one that waits for it.
const (
	Hold   = "hold"   // acquire, with a session that ends Timeout after the peer; keep it until the peer ends
	Queued = "queued" // return when somebody waits for what this peer holds
	Wait   = "wait"   // wait for the lock, and release it; ElapsedNS is how long ago it was granted
)

// Ready is the first line of a peer.
const Ready = "ready"

// ErrUnsupported is matched by the error for a workload that a peer does not have.
var ErrUnsupported = errors.New("unsupported workload")

// Request asks a peer to run a workload.
type Request struct {
	Workload   string `json:"workload"`
	Clients    int    `json:"clients"` // 1 if it is not positive
	Waiters    int    `json:"waiters"` // for drain
	Leases     int    `json:"leases"`  // for semaphore
	Writes     int    `json:"writes"`  // for mix: how many of 100 acquisitions are a writer's, at random
	Path       string `json:"path"`    // below which nobody else does anything
	WarmupMS   int64  `json:"warmup_ms"`
	DurationMS int64  `json:"duration_ms"`
	TimeoutMS  int64  `json:"timeout_ms"` // for hold
}

// Warmup is how long the workload runs before anything is counted.
func (r Request) Warmup() time.Duration { return time.Duration(r.WarmupMS) * time.Millisecond }

// Duration is how long operations are counted. Drain takes as long as it takes.
func (r Request) Duration() time.Duration { return time.Duration(r.DurationMS) * time.Millisecond }

// Timeout is how long after its end a holder's session ends, as near as the service allows.
func (r Request) Timeout() time.Duration { return time.Duration(r.TimeoutMS) * time.Millisecond }

// ClientCount is how many clients the workload has.
func (r Request) ClientCount() int {
	if r.Workload == Solo {
		return 1
	}
	return max(1, r.Clients)
}

// MaxLatencies is how many samples a result has at most.
const MaxLatencies = 100_000

// Result is what came of a request.
//
// The operations are those that ended in the time that counts, which is ElapsedNS, and the
// latencies are how long each took, the wait included. For drain the operations are the
// hand-overs, ElapsedNS is from the release of the gate to the last release, and the
// latencies are the times between one grant and the next, the first from the gate's release.
type Result struct {
	Operations  int64   `json:"operations"`
	ElapsedNS   int64   `json:"elapsed_ns"`
	LatenciesNS []int64 `json:"latencies_ns"`
	Error       string  `json:"error"`
}

// Err returns what the peer says went wrong.
func (r Result) Err() error {
	switch r.Error {
	case "":
		return nil
	case ErrUnsupported.Error():
		return ErrUnsupported
	}
	return errors.New(r.Error)
}

// Sample makes the latencies of a result of those of all operations. Of too many it takes
// one in so many, evenly.
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

// Workload runs a request. Its error becomes that of the result.
type Workload func(ctx context.Context, r Request) (Result, error)

// Serve is the peer's side, for peers in Go: it answers requests until the input or ctx
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
