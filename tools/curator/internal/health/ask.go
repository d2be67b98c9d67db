package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
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

// Admin is how AdminServers are asked.
type Admin struct {
	Port int  // 0 to ask none
	Dial Dial // connects to them: with TLS it is HTTPS
}

// ask asks the AdminServer of a ZooKeeper server.
func (a Admin) ask(ctx context.Context, server string) (Server, error) {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		return Server{}, err
	}
	address := net.JoinHostPort(host, strconv.Itoa(a.Port))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/commands/srvr", nil)
	if err != nil {
		return Server{}, err
	}
	transport := &http.Transport{ // without a proxy, because it is a server of the ensemble
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, address string) (net.Conn, error) { return a.Dial(ctx, address) },
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return Server{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return Server{}, err
	}
	return parseAdmin(text)
}

// parseAdmin parses the answer to /commands/srvr.
func parseAdmin(text []byte) (Server, error) {
	var answer struct {
		Version   string `json:"version"`
		NodeCount int    `json:"node_count"`
		Error     string `json:"error"`
		Stats     *struct {
			State       string  `json:"server_state"`
			Zxid        int64   `json:"last_processed_zxid"`
			LatencyMin  float64 `json:"min_latency"`
			LatencyAvg  float64 `json:"avg_latency"`
			LatencyMax  float64 `json:"max_latency"`
			Connections int     `json:"num_alive_client_connections"`
			Outstanding int     `json:"outstanding_requests"`
		} `json:"server_stats"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return Server{}, fmt.Errorf("this is not an AdminServer of ZooKeeper: %w", err)
	}
	switch {
	case strings.Contains(answer.Error, notServing):
		return Server{}, errNotServing
	case answer.Error != "":
		return Server{}, fmt.Errorf("the AdminServer answers with the error %q", answer.Error)
	case answer.Stats == nil || answer.Stats.State == "":
		return Server{}, errors.New("this is not an AdminServer of ZooKeeper")
	}
	s := answer.Stats
	version, _, _ := strings.Cut(answer.Version, "-")
	return Server{
		Mode: s.State, Version: version, Zxid: fmt.Sprintf("0x%x", uint64(s.Zxid)),
		LatencyMin: s.LatencyMin, LatencyAvg: s.LatencyAvg, LatencyMax: s.LatencyMax,
		Connections: s.Connections, Outstanding: s.Outstanding, Nodes: answer.NodeCount,
	}, nil
}

// Figures are counters of a server from ZooKeeper's command mntr. Servers refuse the command unless
// their configuration permits it. A counter that is not in the answer is -1. If there is an Error,
// all are.
type Figures struct {
	Sessions   int    `json:"sessions"`
	Watches    int    `json:"watches"`
	Ephemerals int    `json:"ephemerals"`
	Followers  int    `json:"followers"` // of a leader: followers that are up to date
	Error      string `json:"error,omitempty"`
}

// AskFigures asks all servers at the same time. When ctx ends, servers that have not answered have
// an Error. The result has the order of servers.
func AskFigures(ctx context.Context, dial Dial, servers []string) []Figures {
	answers := make([]Figures, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			text, err := command(ctx, dial, server, "mntr")
			if err == nil {
				answers[i], err = parseFigures(text)
			}
			if err != nil {
				answers[i] = noFigures()
				answers[i].Error = err.Error()
			}
		})
	}
	wg.Wait()
	return answers
}

func noFigures() Figures { return Figures{Sessions: -1, Watches: -1, Ephemerals: -1, Followers: -1} }

// parseFigures parses the answer to mntr.
func parseFigures(text string) (Figures, error) {
	f := noFigures()
	if strings.Contains(text, "whitelist") {
		return f, errors.New("the server does not permit the command mntr: see 4lw.commands.whitelist")
	}
	names := map[string]*int{
		"zk_global_sessions": &f.Sessions, "zk_watch_count": &f.Watches, "zk_ephemerals_count": &f.Ephemerals,
		"zk_synced_followers": &f.Followers,
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if figure := names[name]; figure != nil {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				*figure = int(n)
			}
		}
	}
	return f, nil
}
