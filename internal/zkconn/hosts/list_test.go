package hosts

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// attempt begins an attempt, which fails, and returns the address that was tried.
func (l *List) attempt(t *testing.T) (address string, round bool) {
	t.Helper()
	l.Pause(t.Context())
	_, a := l.Begin(t.Context(), time.Second)
	defer a.Finish()
	l.Ended(a, false)
	_, round = l.Failed(a, errors.New("no route"))
	return a.Target.Address, round
}

// attemptAll is attempt, n times.
func (l *List) attemptAll(t *testing.T, n int) (addresses []string) {
	t.Helper()
	for range n {
		address, _ := l.attempt(t)
		addresses = append(addresses, address)
	}
	return addresses
}

// Each round tries every server once, those that the ensemble has named ahead of the user's others, and tells its end.
func TestRounds(t *testing.T) {
	servers := []string{"a:1", "b:1", "c:1"}
	for name, c := range map[string]struct {
		do          func(*List)
		first, then []string
	}{
		"the user's":                   {func(*List) {}, servers, nil},
		"the ensemble's, and the rest": {func(l *List) { l.Prefer([]string{"x:1", "b:1"}) }, []string{"b:1", "x:1"}, []string{"a:1", "c:1"}},
		"the same as the user's":       {func(l *List) { l.Prefer([]string{"c:1", "b:1", "a:1"}) }, servers, nil},
		"another list of the user's":   {func(l *List) { l.Prefer([]string{"x:1"}); l.Set([]string{"d:1", "d:1", "e:1"}) }, []string{"d:1", "e:1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(servers, nil, nil)
			c.do(l)
			for round := range 3 {
				inVain := l.RoundInVain()
				first, then := l.attemptAll(t, len(c.first)), l.attemptAll(t, len(c.then))
				if !slices.Equal(slices.Sorted(slices.Values(first)), c.first) || !slices.Equal(slices.Sorted(slices.Values(then)), c.then) {
					t.Errorf("round %d: %v, then %v", round, first, then)
				}
				select {
				case <-inVain:
				default:
					t.Errorf("round %d has not ended", round)
				}
			}
			if n := l.Size(); n != len(c.first)+len(c.then) || len(l.Known()) != n {
				t.Errorf("a round has %d attempts, %d servers are known", n, len(l.Known()))
			}
		})
	}
}

// A round in which a server may accept the client later is not in vain, and the next one is judged by itself.
func TestRoundThatIsNotInVain(t *testing.T) {
	l := New([]string{"a:1", "b:1"}, nil, nil)
	inVain := l.RoundInVain()
	l.attempt(t)
	l.NotInVain()
	for _, want := range []bool{false, false, true} { // the second of this round, and the two of the next one
		l.attempt(t)
		select {
		case <-inVain:
			if !want {
				t.Fatal("the round was in vain")
			}
		default:
			if want {
				t.Fatal("the round was not in vain")
			}
		}
	}
}

// A server that was taken off the list is not blamed, ends its attempt, and does not end a round.
func TestServerIsGone(t *testing.T) {
	l := New([]string{"a:1"}, nil, nil)
	ctx, a := l.Begin(t.Context(), time.Second)
	if l.Set([]string{"b:1", "a:1"}); l.IsGone(a) || ctx.Err() != nil {
		t.Error("a server that stays is gone")
	}
	if l.Set([]string{"b:1"}); !l.IsGone(a) || !errors.Is(context.Cause(ctx), ErrGone) {
		t.Errorf("the server is not gone: %v", context.Cause(ctx))
	}
	inVain := l.RoundInVain()
	if blamed, round := l.Failed(a, ErrGone); blamed || round {
		t.Errorf("blamed %t, round %t", blamed, round)
	}
	l.Ended(a, false)
	if pause, _ := l.Pause(t.Context()); pause != 0 {
		t.Errorf("a pause of %v", pause)
	}
	select {
	case <-inVain:
		t.Error("a round has ended")
	default:
	}
	var d Dialer
	if _, err := d.Connect(ctx, &Attempt{Target: Target{Err: errors.New("no address")}}, time.Second); !errors.Is(err, ErrGone) {
		t.Errorf("the attempt fails with %v", err)
	}
}

// The first round has no pauses. Then they grow to a second on average, until a connection has held.
func TestPauses(t *testing.T) {
	l := New([]string{"a:1", "b:1"}, nil, nil)
	pauses := func(n int) (sum time.Duration) {
		for range n {
			d, stopped := l.Pause(t.Context())
			if stopped || d > 2*time.Second {
				t.Fatalf("a pause of %v, stopped %t", d, stopped)
			}
			sum += d
			_, a := l.Begin(t.Context(), time.Second)
			l.Ended(a, false)
			a.Finish()
		}
		return sum
	}
	if d := pauses(2); d != 0 {
		t.Errorf("the first round pauses for %v", d)
	}
	if d := pauses(3); d == 0 || d > 475*time.Millisecond {
		t.Errorf("the next three attempts pause for %v", d)
	}
	pauses(20)
	if d := pauses(100); d < 50*time.Second || d > 150*time.Second {
		t.Errorf("a hundred attempts pause for %v", d)
	}
	_, a := l.Begin(t.Context(), time.Second)
	l.Ended(a, true)
	if d := pauses(2); d != 0 {
		t.Errorf("behind a connection that has held the first round pauses for %v", d)
	}
	l.Stop()
	if _, stopped := l.Pause(t.Context()); !stopped {
		t.Error("it goes on")
	}
}

// Behind a connection the next round begins, with the server that comes after that one. If the connection was of no use,
// the round goes on.
func TestNextServerBehindAConnection(t *testing.T) {
	for name, useless := range map[string]bool{"used": false, "of no use": true} {
		t.Run(name, func(t *testing.T) {
			l := New([]string{"a:1", "b:1", "c:1"}, nil, nil)
			first, _ := l.attempt(t)
			_, a := l.Begin(t.Context(), time.Second)
			l.Connected(t.Context())
			if useless {
				l.GoOn(a)
			}
			last, round := l.attempt(t)
			if first == last || a.Target.Address == last || round != useless {
				t.Errorf("after %s and %s comes %s, the round has ended: %t", first, a.Target.Address, last, round)
			}
		})
	}
}

// Names are looked up ahead of each round, all of a list at once, and each address is a server. A list that is replaced
// while it is looked up is looked up again.
func TestNames(t *testing.T) {
	names := map[string][]netip.Addr{"zk": {netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::ffff:10.0.0.2")}}
	var l *List
	replaced := false
	l = New([]string{"zk:1", "unknown:1"}, func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "unknown" && !replaced {
			replaced = true
			l.Set([]string{"zk:1", "unknown:1"})
		}
		return names[host], nil
	}, nil)
	if l.Trying() != (Target{}) || l.Known() != nil && len(l.Known()) != 0 {
		t.Errorf("before the first attempt %v is tried, and %v are known", l.Trying(), l.Known())
	}
	got := l.attemptAll(t, 3)
	if want := []string{"10.0.0.1:1", "10.0.0.2:1", "unknown:1"}; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%v", got)
	}
	for _, target := range l.Known() {
		if want := map[string]string{
			"10.0.0.1:1": "zk:1 (10.0.0.1)", "10.0.0.2:1": "zk:1 (10.0.0.2)", "unknown:1": "unknown:1",
		}[target.Address]; target.String() != want || (target.Err == nil) == (target.Server == "unknown:1") {
			t.Errorf("%s, %v", target, target.Err)
		}
	}
	names["zk"] = []netip.Addr{netip.MustParseAddr("10.0.0.3")}
	if got := l.attemptAll(t, 2); !slices.Contains(got, "10.0.0.3:1") || len(l.Addresses(t.Context())) != 2 {
		t.Errorf("%v, all %v", got, l.Addresses(t.Context()))
	}
}

// written is an Order.
type written struct {
	servers   []string
	next      int
	connected int
}

func (o *written) Len() int { return len(o.servers) }

func (o *written) Next() (string, bool) {
	o.next++
	return o.servers[(o.next-1)%len(o.servers)], o.next > 1 && (o.next-1)%len(o.servers) == 0
}

func (o *written) Connected() { o.connected++ }

// An Order decides which server is next, and when a round was in vain. It is asked ahead of the pause.
func TestOrder(t *testing.T) {
	o := &written{servers: []string{"a:1", "b:1"}}
	l := New([]string{"never:1"}, nil, o)
	inVain := l.RoundInVain()
	if got := l.attemptAll(t, 2); !slices.Equal(got, o.servers) {
		t.Errorf("%v", got)
	}
	select {
	case <-inVain:
		t.Error("the round has ended early")
	default:
	}
	l.Pause(t.Context())
	select {
	case <-inVain:
	default:
		t.Error("the round has not ended")
	}
	l.Connected(t.Context())
	if l.Size() != 2 || len(l.Known()) != 2 || o.connected != 1 {
		t.Errorf("%d servers, known are %v, told of %d connections", l.Size(), l.Known(), o.connected)
	}
}
