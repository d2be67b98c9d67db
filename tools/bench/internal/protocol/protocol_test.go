package protocol_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

func TestServe(t *testing.T) {
	var got protocol.Request
	workloads := map[string]protocol.Workload{
		protocol.Solo: func(_ context.Context, r protocol.Request) (protocol.Result, error) {
			got = r
			return protocol.Result{Operations: 2, ElapsedNS: 30, LatenciesNS: []int64{10, 20}}, nil
		},
		protocol.Drain: func(context.Context, protocol.Request) (protocol.Result, error) {
			return protocol.Result{Operations: 1}, errors.New("no server\nat all")
		},
	}
	in := `{"workload":"solo","clients":8,"waiters":300,"leases":4,"writes":5,"path":"/x","warmup_ms":1000,"duration_ms":3000,"timeout_ms":4000}
{"workload":"readers"}
{"workload":"drain"}
nonsense
`
	var out bytes.Buffer
	if err := protocol.Serve(t.Context(), strings.NewReader(in), &out, workloads); err != nil {
		t.Fatal(err)
	}
	want := `ready
{"operations":2,"elapsed_ns":30,"latencies_ns":[10,20],"error":""}
{"operations":0,"elapsed_ns":0,"latencies_ns":null,"error":"unsupported workload"}
{"operations":0,"elapsed_ns":0,"latencies_ns":null,"error":"no server\nat all"}
{"operations":0,"elapsed_ns":0,"latencies_ns":null,"error":"invalid character 'o' in literal null (expecting 'u')"}
`
	if out.String() != want {
		t.Errorf("answers:\n%s", &out)
	}
	if want := (protocol.Request{Workload: protocol.Solo, Clients: 8, Waiters: 300, Leases: 4, Writes: 5, Path: "/x", WarmupMS: 1000, DurationMS: 3000, TimeoutMS: 4000}); got != want {
		t.Errorf("request %+v", got)
	}
	if got.ClientCount() != 1 || got.Warmup() != time.Second || got.Duration() != 3*time.Second || got.Timeout() != 4*time.Second {
		t.Errorf("%d clients, %v, %v, %v", got.ClientCount(), got.Warmup(), got.Duration(), got.Timeout())
	}
}

func TestClientCount(t *testing.T) {
	for clients, want := range map[int]int{-1: 1, 0: 1, 1: 1, 8: 8} {
		if got := (protocol.Request{Workload: protocol.Contend, Clients: clients}).ClientCount(); got != want {
			t.Errorf("%d clients of %d", got, clients)
		}
	}
}

func TestResultErr(t *testing.T) {
	if err := (protocol.Result{}).Err(); err != nil {
		t.Error(err)
	}
	if err := (protocol.Result{Error: "unsupported workload"}).Err(); err != protocol.ErrUnsupported {
		t.Error(err)
	}
	if err := (protocol.Result{Error: "no server"}).Err(); err == nil || err.Error() != "no server" {
		t.Error(err)
	}
}

func TestSample(t *testing.T) {
	few := []int64{3, 1, 2}
	if got := protocol.Sample(few); !slices.Equal(got, few) {
		t.Errorf("%v", got)
	}
	var many []int64
	for i := range int64(3 * protocol.MaxLatencies) {
		many = append(many, i)
	}
	got := protocol.Sample(many)
	if len(got) != protocol.MaxLatencies {
		t.Fatalf("%d samples", len(got))
	}
	for i, latency := range got {
		if latency != int64(3*i) {
			t.Fatalf("sample %d is %d", i, latency)
		}
	}
}
