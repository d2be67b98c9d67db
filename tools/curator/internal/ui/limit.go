package ui

import (
	"net"
	"sync"
)

// limited limits the number of open connections. It closes further connections as soon as it has
// accepted them, so that their clients do not wait.
type limited struct {
	net.Listener
	most int

	mu   sync.Mutex
	open int
}

// Accept returns the next connection within the limit.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.add() {
			return &counted{Conn: conn, listener: l}, nil
		}
		conn.Close()
	}
}

func (l *limited) add() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most {
		return false
	}
	l.open++
	return true
}

func (l *limited) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	listener *limited
	once     sync.Once
}

// Close closes the connection.
func (c *counted) Close() error {
	c.once.Do(c.listener.drop)
	return c.Conn.Close()
}
