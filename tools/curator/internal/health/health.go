// Package health asks each server of an ensemble how it is, by ZooKeeper's command srvr,
// which servers answer by default, and where that is not answered by the AdminServer; and what it
// counts, by mntr, which they may refuse. It needs no session, and works without a quorum. Its
// functions are safe for concurrent use.
package health

import (
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

// Server is what a server says. With an Error the rest is zero.
type Server struct {
	Server      string  `json:"server"` // host:port
	Mode        string  `json:"mode"`   // "leader", "follower", "observer", "standalone", "read-only"
	Version     string  `json:"version"`
	Zxid        string  `json:"zxid"` // hexadecimal
	LatencyMin  float64 `json:"latencyMinMs"`
	LatencyAvg  float64 `json:"latencyAvgMs"`
	LatencyMax  float64 `json:"latencyMaxMs"`
	Connections int     `json:"connections"`
	Outstanding int     `json:"outstanding"` // requests that wait
	Nodes       int     `json:"nodes"`
	Error       string  `json:"error,omitempty"`
}

// maxAnswer bounds what is read of something that is no ZooKeeper.
const maxAnswer = 64 << 10

// Dial connects to a server.
type Dial func(ctx context.Context, address string) (net.Conn, error)

// Ask asks all servers at the same time, until ctx ends, which is an Error of those that have
// not answered. adminPort is the port of their AdminServers, 0 for none. The result has the order
// of servers.
func Ask(ctx context.Context, dial Dial, servers []string, adminPort int) []Server {
	answers := make([]Server, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			s, err := askEither(ctx, dial, server, adminPort)
			if err != nil {
				s = Server{Error: err.Error()}
			}
			s.Server = server
			answers[i] = s
		})
	}
	wg.Wait()
	return answers
}

// askEither asks the AdminServer, too, if the server has not said what it thinks. An error is that
// of the port for clients.
func askEither(ctx context.Context, dial Dial, server string, adminPort int) (Server, error) {
	// A port that does not answer must leave time for the other one.
	const share = 2
	wordCtx := ctx
	if deadline, ok := ctx.Deadline(); ok && adminPort != 0 {
		var cancel context.CancelFunc
		wordCtx, cancel = context.WithTimeout(ctx, time.Until(deadline)/share)
		defer cancel()
	}
	s, err := ask(wordCtx, dial, server)
	if err == nil || adminPort == 0 || errors.Is(err, errNotServing) {
		return s, err
	}
	if s, adminErr := askAdmin(ctx, server, adminPort); adminErr == nil || errors.Is(adminErr, errNotServing) {
		return s, adminErr
	}
	return s, err
}

func ask(ctx context.Context, dial Dial, server string) (Server, error) {
	text, err := command(ctx, dial, server, "srvr")
	if err != nil {
		return Server{}, err
	}
	return parse(text)
}

// command sends a command of four letters and returns the answer.
func command(ctx context.Context, dial Dial, server, word string) (string, error) {
	conn, err := dial(ctx, server)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(conn, maxAnswer))
	if ended := ctx.Err(); ended != nil {
		return "", fmt.Errorf("no answer: %w", ended)
	}
	if err != nil && len(text) == 0 {
		return "", err
	}
	return string(text), nil
}

// notServing is in the answers of a server without a quorum.
const notServing = "not currently serving"

var errNotServing = errors.New("the server runs, but does not serve requests: it has no quorum")

// parse reads the answer to srvr.
func parse(text string) (Server, error) {
	s := Server{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Zookeeper version":
			s.Version, _, _ = strings.Cut(value, "-")
			s.Version, _, _ = strings.Cut(s.Version, ",")
		case "Latency min/avg/max":
			// A server of another version may write it another way: then it stays 0.
			_, _ = fmt.Sscanf(value, "%f/%f/%f", &s.LatencyMin, &s.LatencyAvg, &s.LatencyMax)
		case "Connections":
			s.Connections, _ = strconv.Atoi(value)
		case "Outstanding":
			s.Outstanding, _ = strconv.Atoi(value)
		case "Zxid":
			s.Zxid = value
		case "Mode":
			s.Mode = value
		case "Node count":
			s.Nodes, _ = strconv.Atoi(value)
		}
	}
	switch {
	case s.Mode != "":
		return s, nil
	case strings.Contains(text, "whitelist"):
		return s, errors.New("the server does not permit the command srvr: see 4lw.commands.whitelist")
	case strings.Contains(text, notServing):
		return s, errNotServing
	case text == "":
		return s, errors.New("the server closed the connection without an answer")
	}
	line, _, _ := strings.Cut(text, "\n")
	return s, fmt.Errorf("it is no ZooKeeper server, it answers %q", line[:min(len(line), 40)])
}

// Healthy reports whether all servers serve, with one leader or one server that is alone.
func Healthy(servers []Server) bool {
	leaders := 0
	for _, s := range servers {
		switch s.Mode {
		case "leader":
			leaders++
		case "standalone":
			if len(servers) > 1 {
				return false
			}
			leaders++
		case "follower", "observer":
		default:
			return false
		}
	}
	return leaders == 1
}
