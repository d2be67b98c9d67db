package netfault_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkserver/netfault"
)

const delay = 50 * time.Millisecond

// TestDelayLine sends pieces 10 ms apart: each takes its 50 ms, and they do not wait for each other.
func TestDelayLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		l := netfault.NewDelayLine(delay, nil)
		go l.Fill(r)
		start := time.Now()
		go func() {
			for _, piece := range []string{"a", "b", "c"} {
				io.WriteString(w, piece)
				time.Sleep(10 * time.Millisecond)
			}
			w.Close()
		}()
		b := make([]byte, 10)
		for i, want := range []string{"a", "b", "c"} {
			n, err := l.Read(b)
			if string(b[:n]) != want || err != nil {
				t.Errorf("%q, %v", b[:n], err)
			}
			if late := time.Since(start); late != delay+time.Duration(i)*10*time.Millisecond {
				t.Errorf("piece %d after %v", i, late)
			}
		}
		if _, err := l.Read(b); !errors.Is(err, io.EOF) {
			t.Errorf("the end: %v", err)
		}
		if late := time.Since(start); late != delay+30*time.Millisecond {
			t.Errorf("the end after %v", late)
		}
	})
}

// TestVariableDelayLine sends a slow piece and then a fast one: they stay in order.
func TestVariableDelayLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		delays := []time.Duration{delay, 0, 0}
		l := netfault.NewVariableDelayLine(func() time.Duration {
			d := delays[0]
			delays = delays[1:]
			return d
		}, nil)
		go l.Fill(r)
		start := time.Now()
		go func() {
			io.WriteString(w, "a")
			io.WriteString(w, "b")
			time.Sleep(2 * delay)
			w.Close()
		}()
		got, err := io.ReadAll(l)
		if string(got) != "ab" || err != nil || time.Since(start) != 2*delay {
			t.Errorf("%q, %v after %v", got, err, time.Since(start))
		}
	})
}

// TestDelayLineEnds closes done under those who wait: at an empty line, for a piece that is on
// its way, and at a full one.
func TestDelayLineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		empty, slow, full := netfault.NewDelayLine(delay, done), netfault.NewDelayLine(time.Hour, done), netfault.NewDelayLine(time.Hour, done)
		ended := make(chan error)
		r, w := io.Pipe()
		defer r.Close()
		go slow.Fill(r)
		io.WriteString(w, "x")
		for _, l := range []*netfault.DelayLine{empty, slow} {
			go func() {
				_, err := l.Read(make([]byte, 1))
				ended <- err
			}()
		}
		go func() {
			full.Fill(endless{})
			ended <- io.ErrClosedPipe
		}()
		synctest.Wait()
		close(done)
		for range 3 {
			if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("ended with %v", err)
			}
		}
	})
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
