package curatortest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// inMemory runs a test on both ends of a connection in a bubble.
func inMemory(t *testing.T, test func(t *testing.T, near, far net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		near, far := newMemoryConns(memoryAddr(1), memoryAddr(2))
		defer near.Close()
		defer far.Close()
		test(t, near, far)
	})
}

// TestMemoryBothWrite writes at both ends before it reads at either of them.
func TestMemoryBothWrite(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far net.Conn) {
		for _, c := range []net.Conn{near, far} {
			if n, err := c.Write(make([]byte, memoryWindow)); n != memoryWindow || err != nil {
				t.Fatal(n, err)
			}
		}
		for _, c := range []net.Conn{near, far} {
			if _, err := io.ReadFull(c, make([]byte, memoryWindow)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestMemoryWindow writes more than the window. The writer waits for the reader, and everything
// arrives.
func TestMemoryWindow(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far net.Conn) {
		sent := bytes.Repeat([]byte("0123456789"), memoryWindow)
		written := make(chan error)
		go func() {
			_, err := near.Write(sent)
			written <- errors.Join(err, near.Close())
		}()
		synctest.Wait()
		select {
		case <-written:
			t.Fatal("nothing has waited")
		default:
		}
		got := make(chan []byte)
		go func() {
			b, err := io.ReadAll(far)
			if err != nil {
				t.Error(err)
			}
			got <- b
		}()
		if err := <-written; err != nil {
			t.Error(err)
		}
		if !bytes.Equal(<-got, sent) {
			t.Error("something else has arrived")
		}
	})
}

func TestMemoryClose(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far net.Conn) {
		if _, err := near.Write([]byte("last words")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := near.Close(); err != nil {
				t.Error(err)
			}
		}
		if got, err := io.ReadAll(far); string(got) != "last words" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := far.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to an end that has gone: %v", err)
		}
		if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write after Close: %v", err)
		}
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after Close: %v", err)
		}
	})
}

// TestMemoryCloseWakes closes a connection while calls wait for it.
func TestMemoryCloseWakes(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far net.Conn) {
		errs := make(chan error)
		for _, c := range []net.Conn{near, far} {
			go func() {
				_, err := c.Read(make([]byte, 1))
				errs <- err
			}()
			go func() {
				_, err := c.Write(make([]byte, 2*memoryWindow))
				errs <- err
			}()
		}
		near.Close()
		for range 4 {
			// The far end may still have read something.
			<-errs
		}
	})
}

func TestMemoryDeadlines(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far net.Conn) {
		start := time.Now()
		near.SetReadDeadline(start.Add(time.Second))
		var timeout net.Error
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("read: %v", err)
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited for %v", waited)
		}
		if _, err := far.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read after the deadline: %v", err)
		}
		near.SetDeadline(time.Time{})
		if _, err := near.Read(make([]byte, 1)); err != nil {
			t.Errorf("read without a deadline: %v", err)
		}
		near.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := near.Write(make([]byte, 2*memoryWindow)); n != memoryWindow || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %d, %v", n, err)
		}
	})
}

// TestMemoryDeadlineForWaiters sets two deadlines, the later one first, while calls wait.
func TestMemoryDeadlineForWaiters(t *testing.T) {
	inMemory(t, func(t *testing.T, near, _ net.Conn) {
		start := time.Now()
		near.SetReadDeadline(start.Add(time.Hour))
		read := make(chan error)
		go func() {
			_, err := near.Read(make([]byte, 1))
			read <- err
		}()
		synctest.Wait()
		near.SetReadDeadline(start.Add(time.Second))
		synctest.Wait()
		near.SetReadDeadline(start.Add(2 * time.Second))
		if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
		if waited := time.Since(start); waited != 2*time.Second {
			t.Errorf("waited for %v", waited)
		}
	})
}

func TestMemoryDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemoryListener()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.dial(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody accepts: %v", err)
		}
		go func() {
			for {
				if _, err := l.Accept(); err != nil {
					return
				}
			}
		}()
		conn, err := l.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if conn.LocalAddr().String() == conn.RemoteAddr().String() || conn.RemoteAddr().String() != l.Addr().String() {
			t.Errorf("addresses %v, %v", conn.LocalAddr(), conn.RemoteAddr())
		}
		for range 2 {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := l.dial(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("after Close: %v", err)
		}
	})
}
