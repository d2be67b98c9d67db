package rolling

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/verify/chaos"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) {
	if was, err := chaos.Work(context.Background()); was { // a worker of TestRunRefused
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	suite.Main(m)
}

// clients is the number of witnesses in TestWitness.
const clients = 3

// oneStep is something that is done to a server or to a witness, how much is lost by it, and what Judge says.
type oneStep struct {
	do   func(t *testing.T, s *curatortest.Server, w *witness)
	lost int
	want []string
}

// steps are good ones, and one for each thing that can go wrong.
func steps() map[string]oneStep {
	return map[string]oneStep{
		"a restart": {do: func(_ *testing.T, s *curatortest.Server, _ *witness) { s.Restart() }},
		// One that is away for half of it may cost leases: the pauses between attempts are random.
		"a server that is away for a fifth of the timeout": {do: func(_ *testing.T, s *curatortest.Server, _ *witness) {
			s.Stop()
			<-time.After(2 * time.Second)
			s.Start()
		}},
		"connections that end": {do: func(_ *testing.T, s *curatortest.Server, _ *witness) { s.Disconnect() }},
		"a session that ends": {
			do:   func(_ *testing.T, s *curatortest.Server, w *witness) { s.ExpireSession(w.observers[1].session) },
			lost: 7, want: []string{
				"lost: client 2: mutex: ", "lost: client 2: read lock: ", "lost: client 2: write lock: ", "lost: client 2: semaphore: ",
				"lost: client 2: leadership: ", "lost: client 2: kept node: ", "lost: client 2: session: ",
			},
		},
		"a server that is away for longer than the timeout": {
			do: func(_ *testing.T, s *curatortest.Server, _ *witness) {
				heal := s.Partition(curatortest.Both)
				<-time.After(30 * time.Second)
				heal()
			},
			lost: 7 * clients, want: []string{"lost: client 1: mutex: ", "lost: client 3: kept node: "},
		},
		"an increment that is undone": {
			do: func(t *testing.T, _ *curatortest.Server, w *witness) {
				if _, err := w.observers[0].counter.Add(t.Context(), -1000); err != nil {
					t.Error(err)
				}
			},
			want: []string{"the counter is -"},
		},
		"a node that is created again": {
			do: func(t *testing.T, _ *curatortest.Server, w *witness) {
				if err := w.observers[2].client.Delete().ForPath(t.Context(), "/rolling/node-3"); err != nil {
					t.Error(err)
				}
			},
			lost: 1, want: []string{"lost: client 3: kept node: created by 0x"},
		},
		"a cache that does not follow": {
			do: func(t *testing.T, _ *curatortest.Server, w *witness) {
				if err := w.observers[0].cache.Close(t.Context()); err != nil {
					t.Error(err)
				}
			},
			want: []string{"the cache of client 1 does not get the change 0x"},
		},
	}
}

// Each step is done in virtual time, between two that are good. The rows before it and after it must be good,
// and what Judge says of all must have the texts of the step, and nothing if there are none.
func TestWitness(t *testing.T) {
	for name, tt := range steps() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := curatortest.Start(t, curatortest.Virtual())
				w := startWitness(t, s, clients, state.SessionErrorPolicy())
				var rows []Row
				do := func(what string, step func()) Row {
					row := Row{What: what, Server: "1"}
					if err := w.during(t.Context(), &row, time.Second, func() error { step(); return nil }); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					rows = append(rows, row)
					return row
				}
				before := do("before", s.Disconnect)
				if before.result() != "good" || before.Kept != 6*clients || before.Ended != clients || before.Counted == 0 {
					t.Errorf("before: %+v", before)
				}
				row := do("step", func() { tt.do(t, s, w) })
				if len(row.Lost) != tt.lost || row.Kept > 6*clients-tt.lost+tt.lost/7 {
					t.Errorf("%+v", row)
				}
				after := do("after", s.Disconnect)
				if len(after.Lost) > 0 {
					t.Errorf("after: %+v", after)
				}
				wantsError(t, Judge(rows[:2]), tt.want)
			})
		})
	}
}

// wantsError checks that an error has the texts, or that there is none without texts.
func wantsError(t *testing.T, err error, want []string) {
	t.Helper()
	if (err == nil) != (len(want) == 0) {
		t.Fatalf("%v, want %q", err, want)
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

// startWitness starts a witness, which ends with the test.
func startWitness(t *testing.T, s *curatortest.Server, n int, losses state.ErrorPolicy) *witness {
	t.Helper()
	policy := retry.BoundedExponentialBackoff(50*time.Millisecond, time.Second, 100)
	var clients []*framework.Client
	for range n {
		client, err := realservers.Client(t.Context(), s.ConnectString(), 10*time.Second, policy,
			framework.WithErrorPolicy(losses), framework.WithDialer(s.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	w, err := newWitness(t.Context(), clients, "/rolling")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		for _, client := range clients {
			realservers.Close(t.Context(), client)
		}
	})
	return w
}

// Under the standard policy each connection that ends costs its leases, and the witness notices it.
func TestWitnessOfStandardPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := curatortest.Start(t, curatortest.Virtual())
		w := startWitness(t, s, 2, state.StandardErrorPolicy())
		row := Row{What: "step", Server: "1"}
		if err := w.during(t.Context(), &row, time.Second, func() error { return nil }); err != nil || len(row.Lost) > 0 {
			t.Errorf("%+v, %v", row, err)
		}
		wantsError(t, judgeStandard([]Row{row}), []string{"does not notice losses"})
		if err := w.during(t.Context(), &row, time.Second, func() error { s.Restart(); return nil }); err != nil || len(row.Lost) != 10 {
			t.Errorf("%+v, %v", row, err)
		}
		wantsError(t, judgeStandard([]Row{{}, row}), nil)
		wantsError(t, Judge([]Row{row}), []string{"lost: client 2: leadership: "})
	})
}

// The error of a step, and the end of ctx, end it without a row.
func TestWitnessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startWitness(t, curatortest.Start(t, curatortest.Virtual()), 1, state.SessionErrorPolicy())
		broken := errors.New("broken")
		if err := w.during(t.Context(), &Row{}, time.Second, func() error { return broken }); err != broken {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := w.during(ctx, &Row{}, time.Second, func() error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// The leader is restarted last.
func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		modes []string
		want  []int
	}{
		{[]string{"leader", "follower", "follower"}, []int{1, 2, 0}},
		{[]string{"follower", "leader", "follower"}, []int{0, 2, 1}},
		{[]string{"follower", "", "leader"}, []int{0, 1, 2}},
		{nil, nil},
	} {
		if got := order(tt.modes); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.modes, got, tt.want)
		}
	}
}
