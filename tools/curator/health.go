package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/health"
)

// healthTimeout is how long the servers have to answer.
const healthTimeout = 5 * time.Second

const healthHelp = `Asks each server that the connect string names how it is, by ZooKeeper's command
srvr, on the port for clients, or by its AdminServer, on the port of
--admin-port, where that is not answered. It needs no session and no
credentials. LATENCY is the least, the average and the most since the server's
start, in ms.

Exit status 0 if all servers serve, with one leader or one that is alone, and 1
if not. A connect string that names a part of the ensemble without its leader is
so not healthy.

With -o json it is {"healthy": BOOL, "servers": [SERVER...]}. A SERVER has
server, mode, version, zxid, latencyMinMs, latencyAvgMs, latencyMaxMs,
connections, outstanding and nodes; or an error.`

func (p *program) healthCommand() *cobra.Command {
	adminPort := defaultAdminPort
	return p.commandOf(request{
		use: "health", short: "Tell whether the servers of the ensemble serve", help: healthHelp, prints: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().Uint16Var(&adminPort, "admin-port", adminPort, "the port `N` of the AdminServers; 0 is none")
		},
	}, func(ctx context.Context, format string, _ []string) error {
		return p.showHealth(ctx, format, int(adminPort))
	})
}

// defaultAdminPort is ZooKeeper's.
const defaultAdminPort uint16 = 8080

func (p *program) showHealth(ctx context.Context, format string, adminPort int) error {
	if err := p.settings.Complete(p.lookupEnv); err != nil {
		return usage("%v", err)
	}
	s, err := p.newSession(nil) // it is not started, but checks the settings
	if err != nil {
		return err
	}
	encryption, err := p.settings.TLSConfig()
	if err != nil {
		return usage("%v", err)
	}
	s.signals = listenSignals()
	defer s.signals.stop()
	var servers []health.Server
	interrupted, _ := s.signals.until(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, healthTimeout)
		defer cancel()
		servers = health.Ask(ctx, dialTo(encryption), s.ensemble.servers, adminPort)
		return nil
	})
	if interrupted != nil {
		return &exit{code: signalCode(interrupted.signal)}
	}
	healthy := health.Healthy(servers)
	if err := (&answer{session: s, format: format}).printHealth(healthy, servers); err != nil {
		return err
	}
	if !healthy {
		return exitWith(exitNo, "the ensemble is not healthy")
	}
	return nil
}

// dialTo returns how servers are connected to; encryption may be nil.
func dialTo(encryption *tls.Config) health.Dial {
	return func(ctx context.Context, address string) (net.Conn, error) {
		if encryption == nil {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
		return (&tls.Dialer{Config: encryption}).DialContext(ctx, "tcp", address)
	}
}

func (a *answer) printHealth(healthy bool, servers []health.Server) error {
	if a.format != asTable {
		return a.document(struct {
			Healthy bool            `json:"healthy"`
			Servers []health.Server `json:"servers"`
		}{healthy, servers})
	}
	rows := [][]string{{"SERVER", "MODE", "ZXID", "LATENCY", "CONNECTIONS", "OUTSTANDING", "NODES", "VERSION"}}
	for _, h := range servers {
		if h.Error != "" {
			rows = append(rows, []string{h.Server, "down", h.Error})
			continue
		}
		latency := fmt.Sprintf("%v/%v/%v", h.LatencyMin, h.LatencyAvg, h.LatencyMax)
		rows = append(rows, []string{
			h.Server, h.Mode, h.Zxid, latency, strconv.Itoa(h.Connections), strconv.Itoa(h.Outstanding), strconv.Itoa(h.Nodes), h.Version,
		})
	}
	return a.table(rows)
}
