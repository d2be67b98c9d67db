package zkconn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// step is one thing that happens in a random story, and how long nothing else does.
type step struct {
	name  string
	after time.Duration
}

func (s step) String() string { return fmt.Sprintf("%s, %v", s.name, s.after) }

// faults are what can be done to the server; those that last return how to undo them.
var faults = map[string]func(s *story) (undo func()){
	"disconnect":    func(s *story) func() { s.server.Disconnect(); return nil },
	"expire":        func(s *story) func() { s.expire(); return nil },
	"restart":       func(s *story) func() { s.server.Restart(); return nil },
	"restart empty": func(s *story) func() { s.excuseAll(); s.server.RestartEmpty(); return nil },
	"partition":     func(s *story) func() { return s.server.Partition(curatortest.Both) },
	"mute":          func(s *story) func() { return s.server.Partition(curatortest.ToServer) },
	"deafen":        func(s *story) func() { return s.server.Partition(curatortest.ToClient) },
	"pause":         func(s *story) func() { return s.server.Pause() },
	"refuse":        func(s *story) func() { return s.server.Refuse() },
	"delay": func(s *story) func() {
		s.inject(curatortest.Rule{Op: "createSession", Do: curatortest.Delay(timeout / 4)})
		return nil
	},
	"cut":     func(s *story) func() { s.inject(curatortest.Rule{Do: curatortest.CutAfter()}); return nil },
	"request": func(s *story) func() { s.request(); return nil },
	"write":   func(s *story) func() { s.write(); return nil },
	"nothing": func(*story) func() { return nil },
	"close":   func(s *story) func() { s.close(); return nil },
}

func drawStep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		names := []string{
			"disconnect", "expire", "restart", "restart empty", "partition", "mute", "deafen", "pause", "refuse",
			"delay", "cut", "request", "write", "nothing",
		}
		if rapid.IntRange(0, 60).Draw(t, "end") == 60 {
			return step{name: "close"}
		}
		eighths := rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 2, 3, 4, 6, 8, 12, 16}).Draw(t, "eighths")
		return step{
			name:  rapid.SampledFrom(names).Draw(t, "what"),
			after: eighths*timeout/8 + rapid.SampledFrom([]time.Duration{0, 1, time.Millisecond, timeout / 16}).Draw(t, "more"),
		}
	})
}

// recovery is how long a client may take to find a server that is well again: for noticing
// that its connection is dead, for giving its session up, which the server may not know, for
// believing that the server has lost its data, and for the pauses between attempts, of two seconds
// at most.
const recovery = 6 * timeout

// recoveryOfEach is how much longer it may take for each fault that waits for a connection or a request.
const recoveryOfEach = timeout/4 + 2*time.Second

// TestRandomFaults lets anything happen to a connection, and checks what is promised of it:
// at every tick of the server, and with every event.
func TestRandomFaults(t *testing.T) {
	runs, expired := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(drawStep(), 5, 40).Draw(rt, "steps")
		defer bounded()()
		var err error
		virtual(t, func(f *fixture) {
			s := &story{fixture: f, began: time.Now(), undo: map[string]func(){}, leases: map[int64]*lease{}}
			err = s.play(steps)
			runs, expired = runs+1, expired+s.expired
		})
		if err != nil {
			t.Log(steps, err) // the pauses between attempts are random: it may not come again
			rt.Fatal(err)
		}
	})
	t.Logf("%d runs, in which the server ended %d sessions by its own clock", runs, expired)
	if expired == 0 {
		t.Error("no session was ended by the server's clock: the test shows nothing")
	}
}

// story is one run. What it finds wrong it keeps, for rapid looks for a shorter one.
type story struct {
	*fixture
	began  time.Time
	undo   map[string]func()
	leases map[int64]*lease // by session
	record record
	closed bool
	errs   []error

	expired  int // sessions that the server ended by its own clock
	injected int // faults, of which some may not have come to pass
}

func (s *story) wrong(format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf("%v: "+format, append([]any{time.Since(s.began)}, args...)...))
}

func (s *story) play(steps []step) error {
	s.open(func(cfg *zkconn.Config) { cfg.OnEvent = s.record.take })
	for _, step := range steps {
		if undo := s.undo[step.name]; undo != nil { // what lasts ends with its next mention
			undo()
			delete(s.undo, step.name)
		} else if undo := faults[step.name](s); undo != nil {
			s.undo[step.name] = undo
		}
		s.pass(step.after)
		if s.closed {
			break
		}
	}
	for _, undo := range s.undo {
		undo()
	}
	if !s.closed {
		s.recover()
		s.close()
	}
	s.pass(2 * timeout) // of requests that are on their way
	s.errs = append(s.errs, s.record.wrong()...)
	return errors.Join(s.errs...)
}

// pass lets time pass, and looks at everything after each tick of the server: sessions end
// only then.
func (s *story) pass(d time.Duration) {
	const tick = 200 * time.Millisecond
	end := time.Now().Add(d)
	for {
		next := s.began.Add(time.Since(s.began).Truncate(tick) + tick + 1)
		if next.After(end) {
			time.Sleep(time.Until(end))
			synctest.Wait()
			s.look()
			return
		}
		time.Sleep(time.Until(next))
		synctest.Wait()
		s.look()
	}
}

// look checks what holds at any time.
func (s *story) look() {
	for _, id := range s.record.over() {
		if deadline, ok := s.conn.Deadline(id); ok {
			s.wrong("session %x has ended and is believed in until %v", id, deadline)
		}
	}
	for id, l := range s.leases {
		_, there := s.server.Get(l.path)
		if there {
			l.seen = true
		}
		if !l.seen || there || l.gone {
			continue
		}
		l.gone = true
		if l.excused {
			continue
		}
		s.expired++
		now := time.Now()
		if deadline, ok := s.conn.Deadline(id); ok && deadline.After(now) {
			s.wrong("the server has ended session %x, believed in for another %v", id, deadline.Sub(now))
		}
		if !s.record.doubted(id) {
			s.wrong("the server has ended session %x before its deadline was reported", id)
		}
	}
	if id, _ := s.conn.Session(); !s.closed && id != 0 && s.leases[id] == nil {
		s.lease(id)
	}
}

// lease is an ephemeral node: who relies on it must not do so when the server removes it.
type lease struct {
	path       string
	seen, gone bool
	excused    bool // the session was ended by force
}

func (s *story) lease(id int64) {
	l := &lease{path: fmt.Sprintf("/lease-%x", id)}
	s.leases[id] = l
	made, _ := create(l.path, jute.FlagEphemeral)
	go s.conn.Do(s.Context(), id, made) // with whatever outcome
}

func (s *story) excuseAll() {
	for _, l := range s.leases {
		l.excused = true
	}
}

// inject has the server do something to the next connection or request.
func (s *story) inject(r curatortest.Rule) {
	s.injected++
	s.server.Inject(r)
}

func (s *story) expire() {
	id, _ := s.conn.Session()
	if l := s.leases[id]; l != nil {
		l.excused = true
	}
	s.server.ExpireSession(id)
}

// request has a context that may end before the answer comes.
func (s *story) request() {
	ctx, cancel := context.WithTimeout(s.Context(), timeout/2)
	go func() {
		defer cancel()
		_ = s.conn.Do(ctx, 0, exists("/"))
	}()
}

// write is never on another session than it was meant for.
func (s *story) write() {
	id, _ := s.conn.Session()
	if id == 0 {
		return
	}
	made, res := create("/write-", jute.FlagEphemeral|jute.FlagSequential)
	go func() {
		if s.conn.Do(s.Context(), id, made) == nil && made.Err == nil && res.Stat.EphemeralOwner != id {
			s.record.note("a create for session %x was done by %x", id, res.Stat.EphemeralOwner)
		}
	}()
}

// recover checks that the client finds the server again.
func (s *story) recover() {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(s.Context(), recovery+time.Duration(s.injected)*recoveryOfEach)
	defer cancel()
	for {
		err := s.conn.Do(ctx, 0, exists("/"))
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			s.wrong("not connected %v after all faults: %v", time.Since(begin), err)
			return
		}
	}
	if now := s.conn.State(); !now.IsConnected() {
		s.wrong("a request was answered in %v", now)
	}
	s.pass(timeout)
	if err := s.conn.Do(s.Context(), 0, exists("/")); err != nil {
		s.wrong("a calm network: %v", err)
	}
}

// close checks that Close keeps to its time; that it joins everything, synctest checks.
func (s *story) close() {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(s.Context(), time.Second)
	defer cancel()
	s.excuseAll()
	s.closed = true
	if err := s.conn.Close(ctx); err != nil && !errors.Is(err, zkconn.ErrConnectionLoss) {
		s.wrong("Close says %v", err)
	}
	if took := time.Since(begin); took > 4*time.Second {
		s.wrong("Close took %v", took)
	}
	if err := s.conn.Do(s.Context(), 0, exists("/")); !errors.Is(err, zkconn.ErrClosed) {
		s.wrong("a request after Close: %v", err)
	}
}
