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
)

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
