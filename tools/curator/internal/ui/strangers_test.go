package ui_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// another returns an address that no browser of the tests has.
func another(i int) string { return fmt.Sprintf("192.0.%d.%d", i/250, 1+i%250) }

// Connections whose requests do not go on do not keep anybody out: neither browsers at other addresses, nor
// those at the same one, which may be that of a proxy. They are closed.
func TestSlowBodies(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, p *page) {
		page := "GET / HTTP/1.1\r\nHost: " + virtualAddress + "\r\n"
		begun := []string{
			p.slowLogin(), strings.ReplaceAll(p.slowLogin(), "login", "act"), strings.ReplaceAll(p.slowLogin(), "/api/login", "/"),
			strings.ReplaceAll(p.slowLogin(), "Origin", "X-Origin"), page, page + "\r\n", "GET", "",
		}
		other := p.begin("10.0.0.3", page+"\r\n")
		synctest.Wait()
		var closed []<-chan struct{}
		for i := range 256 {
			closed = append(closed, p.begin("10.0.0.1", begun[i%len(begun)]))
		}
		synctest.Wait()
		if isClosed(other) {
			t.Error("the connections of one address have closed that of another")
		}
		p.visitor("10.0.0.2").signIn()
		p.visitor("10.0.0.1").signIn()
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		open := map[string]int{}
		for i, ch := range closed {
			if !isClosed(ch) {
				open[begun[i%len(begun)]]++
			}
		}
		if len(open) > 0 {
			t.Errorf("connections are still open, after %v", open)
		}
		p.visitor("10.0.0.1").signIn()
	})
}

// A connection to which nothing is sent is closed, also during the handshake of TLS.
func TestSilentConnections(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, p *page) {
		var closed atomic.Int32
		for i := range 300 {
			conn := p.silent(another(i))
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				closed.Add(1)
			}()
		}
		synctest.Wait()
		p.visitor("10.0.0.2").signIn()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := closed.Load(); n != 300 {
			t.Errorf("%d of 300 connections are closed after a minute", n)
		}
	})
}

// Many browsers that send a secret slowly do not make others wait that sign in.
func TestSlowLogins(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, p *page) {
		for i := range 200 {
			p.begin(another(i), p.slowLogin())
		}
		synctest.Wait()
		p.visitor("10.1.0.1").signIn()
	})
}

// Connections with a login are not closed for those without one, however many they are at one address.
func TestBehindAProxy(t *testing.T) {
	const proxy = "10.0.0.1"
	inVirtualTime(t, func(t *testing.T, p *page) {
		var ended []<-chan struct{}
		for range 80 {
			v := p.visitor(proxy)
			v.signIn()
			ended = append(ended, v.stream(func(int64) {}))
		}
		for range 256 {
			p.silent(proxy)
		}
		synctest.Wait()
		for i := range 300 {
			p.silent(another(i))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, ch := range ended {
			if isClosed(ch) {
				t.Errorf("stream %d has ended", i)
			}
		}
	})
}

// A stream goes on for longer than any limit on the time of a request.
func TestLongStream(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, p *page) {
		v := p.visitor("10.0.0.1")
		v.signIn()
		var last atomic.Int64
		ended := v.stream(func(now int64) { last.Store(now) })
		for range 60 {
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if age := time.Now().UnixMilli() - last.Load(); age > 2100 || isClosed(ended) {
				t.Fatalf("the last event is %d ms old, and the stream has ended: %v", age, isClosed(ended))
			}
		}
	})
}

// A browser that does not read its stream, or the page, is disconnected.
func TestDoesNotRead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, p *page) {
		v := p.visitor("10.0.0.1")
		v.signIn()
		get := "GET %s HTTP/1.1\r\nHost: " + virtualAddress + "\r\nCookie: " + v.cookie + "\r\n\r\n"
		for path, limit := range map[string]time.Duration{"/api/events": 15 * time.Second, "/api/search?text=x": 35 * time.Second, "/app.js": 35 * time.Second} {
			conn := p.connect("10.0.0.1")
			if _, err := fmt.Fprintf(conn, get, path); err != nil {
				t.Fatal(err)
			}
			time.Sleep(limit)
			synctest.Wait()
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute)) // it fails because the server has closed the connection
			if n, err := io.Copy(io.Discard, conn); n > 0 {       // after the end nothing that was sent can be read
				t.Errorf("%s: %d bytes, %v", path, n, err)
			}
		}
	})
}

// Guesses from one network of IPv6 are those of one address, because a client has all addresses of its
// network.
func TestGuessesByIPv6(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, p *page) {
		for i := range 11 {
			want := http.StatusUnauthorized
			if i == 10 {
				want = http.StatusTooManyRequests
			}
			if got := p.visitor(fmt.Sprintf("2001:db8::%x", i+1)).status("POST", "/api/login", `{"secret": "x"}`); got != want {
				t.Errorf("guess %d: %d, want %d", i, got, want)
			}
		}
		p.visitor("2001:db8:0:1::1").signIn()
		p.visitor("10.0.0.1").signIn()
	})
}
