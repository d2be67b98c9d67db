package state_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/state"
)

const (
	connected   = state.Connected
	suspended   = state.Suspended
	reconnected = state.Reconnected
	lost        = state.Lost
	readOnly    = state.ReadOnly

	// elapse stands for the end of a wait among the states of a script.
	elapse = state.ConnectionState(-1)
)

// times is a policy that gives its times to wait, one after the other, and remembers what
// it was asked.
type times struct {
	delays   []time.Duration
	attempts []int
	elapsed  []time.Duration
	errs     []error
}

func (p *times) Next(attempt int, elapsed time.Duration, err error) (time.Duration, bool) {
	p.attempts, p.elapsed, p.errs = append(p.attempts, attempt), append(p.elapsed, elapsed), append(p.errs, err)
	if attempt >= len(p.delays) {
		return 0, false
	}
	return p.delays[attempt], true
}

func waits(n int) *times { return &times{delays: slices.Repeat([]time.Duration{time.Second}, n)} }

func newBreaker(t interface{ Fatal(...any) }, policy state.Policy) *state.CircuitBreaker {
	b, err := state.NewCircuitBreaker(policy)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// feed plays a script and returns what is forwarded.
func feed(b *state.CircuitBreaker, script ...state.ConnectionState) (out []state.ConnectionState) {
	for _, s := range script {
		var forward bool
		if s == elapse {
			s, forward, _ = b.Elapsed()
		} else {
			forward, _ = b.Next(s)
		}
		if forward {
			out = append(out, s)
		}
	}
	return out
}

func TestCircuitBreaker(t *testing.T) {
	type states = []state.ConnectionState
	for _, tt := range []struct {
		name         string
		waits        int
		script, want states
		open         bool
	}{
		{"closed", 1, states{connected}, states{connected}, false},
		{"read-only is a connection", 1, states{readOnly}, states{readOnly}, false},
		{"the opening state", 1, states{reconnected, suspended}, states{reconnected, suspended}, true},
		{"a second suspension", 1, states{suspended, suspended}, states{suspended}, true},
		{"the first loss", 1, states{suspended, suspended, lost}, states{suspended, lost}, true},
		{"everything after the loss", 1, states{suspended, lost, readOnly, reconnected, suspended, lost, suspended}, states{suspended, lost}, true},
		{"the policy stops without a connection", 1, states{suspended, lost, reconnected, suspended, elapse}, states{suspended, lost, suspended}, false},
		{"no news at the end", 1, states{suspended, reconnected, suspended, elapse}, states{suspended}, false},
		{"no news after the loss", 1, states{suspended, lost, elapse}, states{suspended, lost}, false},
		{"before the first connection", 1, states{suspended, connected, elapse}, states{suspended, connected}, false},
		{"opened by a loss", 2, states{lost, lost, reconnected}, states{lost}, true},
		{"opened by a loss, closed", 2, states{lost, lost, reconnected, elapse}, states{lost, reconnected}, false},
		{"one wait", 1, states{lost, suspended, elapse}, states{lost, suspended}, false},
		{"another wait", 2, states{suspended, elapse}, states{suspended}, true},
		{"another wait, then a connection", 2, states{suspended, elapse, reconnected, elapse}, states{suspended, reconnected}, false},
		{"never open", 0, states{lost, reconnected, lost, suspended, lost}, states{lost, reconnected, lost, suspended, lost}, false},
		{"a long mix", 1, states{suspended, reconnected, suspended, reconnected, lost, reconnected, suspended, lost, readOnly}, states{suspended, lost}, true},
		{"closed, and open again", 1, states{suspended, reconnected, elapse, suspended, lost, reconnected, elapse}, states{suspended, reconnected, suspended, lost, reconnected}, false},
		{"elapsed while closed", 1, states{elapse, connected, elapse}, states{connected}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBreaker(t, waits(tt.waits))
			if got := feed(b, tt.script...); !slices.Equal(got, tt.want) || b.Open() != tt.open {
				t.Errorf("forwarded %v, want %v; open %t, want %t", got, tt.want, b.Open(), tt.open)
			}
		})
	}
}

// The policy is asked from zero at every opening, with the time that it gave before, and
// its delay becomes the wait.
func TestCircuitBreakerAsksItsPolicy(t *testing.T) {
	policy := &times{delays: []time.Duration{3 * time.Second, 0, 5 * time.Second}}
	b := newBreaker(t, policy)
	check := func(what string, wait, want time.Duration) {
		t.Helper()
		if wait != want {
			t.Errorf("%s: wait %v, want %v", what, wait, want)
		}
	}
	again := func() time.Duration {
		_, _, wait := b.Elapsed()
		return wait
	}
	for range 2 {
		_, wait := b.Next(suspended)
		check("opening", wait, 3*time.Second)
		_, wait = b.Next(lost)
		check("another state while it is open", wait, 0)
		check("a delay of nothing", again(), 1)
		check("the third delay", again(), 5*time.Second)
		check("no delay", again(), 0)
		check("while it is closed", again(), 0)
	}
	if want := []int{0, 1, 2, 3, 0, 1, 2, 3}; !slices.Equal(policy.attempts, want) {
		t.Errorf("attempts %v, want %v", policy.attempts, want)
	}
	passed := []time.Duration{0, 3 * time.Second, 3*time.Second + 1, 8*time.Second + 1}
	if want := slices.Repeat(passed, 2); !slices.Equal(policy.elapsed, want) {
		t.Errorf("elapsed %v, want %v", policy.elapsed, want)
	}
	if slices.Contains(policy.errs, nil) {
		t.Error("the policy was asked without an error: one that looks at it would give up")
	}
}

func TestCircuitBreakerNeedsAPolicy(t *testing.T) {
	if b, err := state.NewCircuitBreaker(nil); err == nil || b != nil {
		t.Errorf("breaker %v, error %v", b, err)
	}
	script := []state.ConnectionState{connected, suspended, lost, elapse, reconnected}
	want := []state.ConnectionState{connected, suspended, lost, reconnected}
	if got := feed(new(state.CircuitBreaker), script...); !slices.Equal(got, want) {
		t.Errorf("the zero breaker forwards %v", got)
	}
}

// Whatever a connection does and a policy says: who is behind the breaker is never told the
// same twice in a row, is told of every loss of the connection that ends a time of calm, and
// knows the truth whenever the breaker is closed.
func TestCircuitBreakerTellsTheTruthInTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBreaker(t, waits(rapid.IntRange(0, 3).Draw(t, "waits")))
		var now, told state.ConnectionState
		var lossTold bool // a LOST was told since the breaker opened
		waiting, connectedBefore := false, false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			before := b.Open()
			var s state.ConnectionState
			var forward bool
			var wait time.Duration
			if waiting && rapid.Bool().Draw(t, "elapse") {
				s, forward, wait = b.Elapsed()
				waiting = wait > 0
			} else {
				now = drawNext(t, now, connectedBefore)
				s, connectedBefore = now, connectedBefore || now.IsConnected()
				forward, wait = b.Next(s)
				waiting = waiting || wait > 0
				switch {
				case !before && !forward:
					t.Fatalf("%v was swallowed by a closed breaker", s)
				case !before:
					lossTold = s == lost
				case s == lost && !lossTold && !forward:
					t.Fatal("the first LOST was swallowed")
				case before && forward && (s != lost || lossTold):
					t.Fatalf("%v came through an open breaker", s)
				}
				lossTold = lossTold || s == lost
			}
			if forward && s == told {
				t.Fatalf("%v was told twice", s)
			}
			if forward {
				told = s
			}
			if waiting != b.Open() {
				t.Fatalf("open %t without a wait, or the reverse", b.Open())
			}
			if !b.Open() && told != now {
				t.Fatalf("closed: the last told is %v, the truth %v", told, now)
			}
		}
	})
}
