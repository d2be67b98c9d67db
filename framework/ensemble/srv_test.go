package ensemble_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/ensemble"
)

// logs is a slog.Handler that keeps records as level, message and error.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }

func (l *logs) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" || a.Key == "servers" || a.Key == "failures" {
			line += " " + a.Value.String()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

func (l *logs) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logs) WithGroup(string) slog.Handler      { return l }

// want checks what was logged since the last time: each line has the words of one of want.
func (l *logs) want(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	same := slices.EqualFunc(l.lines, want, func(got, want string) bool {
		for word := range strings.FieldsSeq(want) {
			if !strings.Contains(got, word) {
				return false
			}
		}
		return true
	})
	if !same {
		t.Errorf("logged %q, want %q", l.lines, want)
	}
	l.lines = nil
}

// registry is a Resolver without a network.
type registry struct {
	mu      sync.Mutex
	targets []string
	err     error
	hang    bool          // until the context ends
	stuck   chan struct{} // if it is not nil, until it is closed
	asked   int
}

func (r *registry) LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error) {
	r.mu.Lock()
	r.asked++
	targets, err, hang, stuck := r.targets, r.err, r.hang, r.stuck
	r.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	if hang {
		<-ctx.Done()
		return "", nil, ctx.Err()
	}
	records := []*net.SRV{nil}
	for _, target := range targets {
		records = append(records, &net.SRV{Target: target, Port: 2181})
	}
	return service + proto + name, records, err
}

// says changes what the registry answers and returns how often it was asked until then.
func (r *registry) says(change func(r *registry)) (asked int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
	asked, r.asked = r.asked, 0
	return asked
}

// names returns a change to other servers.
func names(targets ...string) func(r *registry) {
	return func(r *registry) { r.targets, r.err, r.hang, r.stuck = targets, nil, false, nil }
}

// TestWhenRecordsAreRead counts look-ups, by time and by question.
func TestWhenRecordsAreRead(t *testing.T) {
	for _, c := range []struct {
		opts   []ensemble.Option
		hourly int
	}{
		{nil, 120},
		{[]ensemble.Option{ensemble.WithInterval(5 * time.Minute)}, 12},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &registry{targets: []string{"a"}}
			p := newProvider(t, append(c.opts, ensemble.WithResolver(r))...)
			ctx, cancel := context.WithCancel(t.Context())
			if err := p.Start(ctx); err != nil {
				t.Fatal(err)
			}
			cancel()              // of no consequence any more
			_ = p.ConnectString() // that of the client's Start
			synctest.Wait()
			if n := r.says(names("a")); n != 1 {
				t.Errorf("%d look-ups at the start", n)
			}
			time.Sleep(time.Hour + time.Second)
			if n := r.says(names("a")); n != c.hourly {
				t.Errorf("%d look-ups in an hour, want %d", n, c.hourly)
			}
			for range 10 {
				_ = p.ConnectString()
				synctest.Wait()
			}
			if n := r.says(names("a")); n != 10 {
				t.Errorf("%d look-ups for 10 questions", n)
			}
		})
	}
}

// TestAnswers has the records change and fail, and checks the servers, what the client is
// told, and what is logged.
func TestAnswers(t *testing.T) {
	const failed = "WARN cannot be read, stay as they are "
	synctest.Test(t, func(t *testing.T) {
		var log logs
		r := &registry{targets: []string{"a"}}
		p := newProvider(t, ensemble.WithResolver(r), ensemble.WithLogger(slog.New(&log)))
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		servers := p.ConnectString() // that of the client's Start
		for i, c := range []struct {
			change  func(r *registry)
			want    string
			changed bool
			logged  []string
		}{
			{names("b."), "b:2181", true, []string{"INFO b:2181"}},
			{names("b", "B."), "b:2181", false, nil},
			{names("c", "b"), "b:2181,c:2181", true, []string{"INFO b:2181,c:2181"}},
			{names("b", "c"), "b:2181,c:2181", false, nil},
			{names(), "b:2181,c:2181", false, []string{failed + ensemble.ErrNoServers.Error()}},
			{func(r *registry) { r.err = errors.New("no news") }, "b:2181,c:2181", false, []string{"DEBUG no news"}},
			{names("."), "b:2181,c:2181", false, []string{"DEBUG not available"}},
			{func(r *registry) { r.hang = true }, "b:2181,c:2181", false, []string{"DEBUG no answer: deadline exceeded"}},
			{names("c", "b"), "b:2181,c:2181", false, []string{"INFO can be read again 4"}},
			{func(r *registry) { r.hang = true }, "b:2181,c:2181", false, []string{failed + "no answer"}},
			{names("a b", "d"), "d:2181", true, []string{"INFO d:2181", "WARN left out no valid host", "INFO again 1"}},
			{func(r *registry) { r.targets, r.err = []string{"e"}, errors.New("some are odd") }, "e:2181", true, []string{"INFO e:2181", "WARN left out odd"}},
		} {
			r.says(c.change)
			if got := p.ConnectString(); got != servers { // and has them looked up
				t.Errorf("before step %d the servers are %q, want %q", i, got, servers)
			}
			servers = c.want
			time.Sleep(11 * time.Second) // a look-up that gets no answer takes 10 s
			synctest.Wait()
			changed := false
			select {
			case <-p.Changed():
				changed = true
			default:
			}
			if changed != c.changed {
				t.Errorf("step %d: changed is %v, want %v", i, changed, c.changed)
			}
			log.want(t, c.logged...)
		}
		if got := p.ConnectString(); got != servers {
			t.Errorf("at the end the servers are %q, want %q", got, servers)
		}
	})
}

// TestLife has Start and Close in every order, and look-ups that do not return.
func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{err: errors.New("no news")}
		p := newProvider(t, ensemble.WithResolver(r))
		if err := p.Close(t.Context()); err != nil || p.ConnectString() != "" {
			t.Errorf("before Start: %v, %q", err, p.ConnectString())
		}
		if err := p.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no news") {
			t.Errorf("Start: %v", err)
		}
		r.says(names("a"))
		for range 2 {
			if err := p.Start(t.Context()); err != nil {
				t.Error(err)
			}
			if err := p.Start(t.Context()); !errors.Is(err, framework.ErrAlreadyStarted) {
				t.Errorf("a second Start: %v", err)
			}
			for range 2 {
				if err := p.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		r.says(func(r *registry) { r.hang = true })
		begin := time.Now()
		if err := p.Start(t.Context()); err == nil || errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 10*time.Second {
			t.Errorf("Start without an answer, after %v: %v", time.Since(begin), err)
		}
		r.says(names("a"))
		if err := p.Start(t.Context()); err != nil {
			t.Error(err)
		}
		r.says(func(r *registry) { r.hang = true })
		time.Sleep(31 * time.Second)
		begin = time.Now()
		if err := p.Close(t.Context()); err != nil || time.Since(begin) != 0 {
			t.Errorf("Close during a look-up, after %v: %v", time.Since(begin), err)
		}

		r.says(names("a"))
		if err := p.Start(t.Context()); err != nil {
			t.Error(err)
		}
		stuck := make(chan struct{})
		r.says(func(r *registry) { r.stuck = stuck })
		time.Sleep(31 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close of a look-up that does not return: %v", err)
		}
		close(stuck)
	})
}

// TestRefused has constructors refuse what makes no sense.
func TestRefused(t *testing.T) {
	for _, name := range []string{"", "a b", "zk1:2181", "zk1,zk2", "zk1/app"} {
		if _, err := ensemble.NewSRVProvider(name); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for i, o := range []ensemble.Option{
		nil, ensemble.WithResolver(nil), ensemble.WithLogger(nil), ensemble.WithInterval(0),
		ensemble.WithInterval(30), ensemble.WithInterval(-time.Hour), ensemble.WithFallback(),
		ensemble.WithFallback("a:1", "b"), ensemble.WithFallback("a:0"), ensemble.WithFallback("a:x"),
		ensemble.WithFallback(":1"), ensemble.WithFallback("a:1/app"), ensemble.WithFallback("a,b:1"),
	} {
		if _, err := ensemble.NewSRVProvider(service, o); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("option %d: %v", i, err)
		}
	}
	p := newProvider(t)
	var none context.Context
	if err := p.Start(none); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("a nil context: %v", err)
	}
}
