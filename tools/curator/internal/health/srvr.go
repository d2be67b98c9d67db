package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Dial connects to a server.
type Dial func(ctx context.Context, address string) (net.Conn, error)

func ask(ctx context.Context, dial Dial, server string) (Server, error) {
	text, err := command(ctx, dial, server, "srvr")
	if err != nil {
		return Server{}, err
	}
	return parse(text)
}

// command sends a four-letter command and returns the answer.
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

// parse parses the answer to srvr.
func parse(text string) (Server, error) {
	s := Server{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Zookeeper version":
			s.Version, _, _ = strings.Cut(value, "-")
			s.Version, _, _ = strings.Cut(s.Version, ",")
		case "Latency min/avg/max":
			// If a server of another version writes this in another form, the latencies stay 0.
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
	return s, fmt.Errorf("this is not a ZooKeeper server: it answers %q", line[:min(len(line), 40)])
}
