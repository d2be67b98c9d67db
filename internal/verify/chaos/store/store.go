// Package store is a store outside of ZooKeeper that checks fencing tokens: what a lock's token
// is for. It keeps texts by key, each with the highest token that it has seen.
//
// It is a server of its own process, on a port of the loopback interface, so that the requests
// of a worker that is stopped or killed arrive late or not at all.
package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrFenced is returned when another token has claimed the key.
var ErrFenced = errors.New("fenced")

// Server is the store. It serves from New to Close.
type Server struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry
	conns   map[net.Conn]struct{}
	closed  bool
}

type entry struct {
	fence int64
	text  string
}

// New starts a store.
func New() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, entries: map[string]*entry{}, conns: map[net.Conn]struct{}{}}
	s.serving.Go(s.accept)
	return s, nil
}

// Address is where the store listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Texts returns what the store has, by key.
func (s *Server) Texts() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := map[string]string{}
	for key, e := range s.entries {
		texts[key] = e.text
	}
	return texts
}

// Close ends the store and joins its goroutines.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	s.closed = true
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	return err
}

// acceptPause is the pause behind a failure. Usually the process has too many open files, until it closes some.
const acceptPause = 10 * time.Millisecond

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.After(acceptPause)
			continue
		}
		s.mu.Lock()
		if s.closed {
			conn.Close()
		} else {
			s.conns[conn] = struct{}{}
			s.serving.Go(func() { s.serve(conn) })
		}
		s.mu.Unlock()
	}
}

// serve answers the requests of one connection, a line each.
func (s *Server) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if _, err := fmt.Fprintln(conn, s.answer(strings.Split(lines.Text(), " "))); err != nil {
			return
		}
	}
}

// answer does "claim KEY TOKEN", which is answered by the text, or "write KEY TOKEN TEXT".
func (s *Server) answer(words []string) string {
	if len(words) < 3 {
		return "error"
	}
	token, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || token < 0 {
		return "refused"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[words[1]]
	if e == nil {
		e = &entry{}
		s.entries[words[1]] = e
	}
	switch {
	case words[0] == "claim" && len(words) == 3 && e.fence <= token:
		e.fence = token
		return "ok " + e.text
	case words[0] == "write" && len(words) == 4 && e.fence == token:
		e.text = words[3]
		return "ok"
	}
	return "refused"
}

// Client is a connection to a store. Its methods may be called from several goroutines, which
// wait for each other.
type Client struct {
	mu    sync.Mutex
	conn  net.Conn
	lines *bufio.Reader
}

// Dial connects to the store at an address.
func Dial(ctx context.Context, address string) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &Client{conn: conn, lines: bufio.NewReader(conn)}, nil
}

// Claim shows the store a token, and returns the text of the key. It returns ErrFenced if a
// higher token was shown before.
func (c *Client) Claim(key string, token int64) (text string, err error) {
	return c.ask(fmt.Sprintf("claim %s %d", key, token))
}

// Write sets the text of the key, which has no spaces. It returns ErrFenced unless the token is
// the one that was shown last; other errors leave it open whether the text was set.
func (c *Client) Write(key string, token int64, text string) error {
	_, err := c.ask(fmt.Sprintf("write %s %d %s", key, token, text))
	return err
}

func (c *Client) ask(request string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := io.WriteString(c.conn, request+"\n"); err != nil {
		return "", err
	}
	line, err := c.lines.ReadString('\n')
	if err != nil {
		return "", err
	}
	switch answer, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); answer {
	case "ok":
		return text, nil
	case "refused":
		return "", ErrFenced
	default:
		return "", fmt.Errorf("the store answers %q", line)
	}
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }
