package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

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
