package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/health"
	"github.com/go-curator/curator/tools/curator/internal/settings"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

// healthTimeout bounds the wait for the servers' answers.
const healthTimeout = 5 * time.Second

const healthHelp = `Asks each server of the connect string for its state, with ZooKeeper's command
srvr on the port for clients. If a server does not answer that, the command asks
its AdminServer, on the port of --admin-port, by HTTP or with --admin-https by
HTTPS. It needs no session and no credentials. LATENCY is the least, the
average and the greatest since the server's start, in ms.

Exits with 0 if all servers serve requests and either one of them is the leader
or there is only one, a standalone server; otherwise with 1. So the result is
1 if the connect string leaves the leader out.

With -o json it is {"healthy": BOOL, "servers": [SERVER...]}. A SERVER has
server, mode, version, zxid, latencyMinMs, latencyAvgMs, latencyMaxMs,
connections, outstanding and nodes; or an error.`

func (p *program) healthCommand() *cobra.Command {
	var admin adminFlags
	return p.commandOf(request{
		use: "health", short: "Check the servers of the ensemble", help: healthHelp, prints: true,
		flags: admin.add,
	}, func(ctx context.Context, format string, _ []string) error {
		return p.showHealth(ctx, format, &admin)
	})
}

// adminFlags are the flags about AdminServers.
type adminFlags struct {
	port  uint16
	https bool
}

func (f *adminFlags) add(cmd *cobra.Command) {
	const byDefault = 8080 // ZooKeeper's
	cmd.Flags().Uint16Var(&f.port, "admin-port", byDefault, "the port `N` of the AdminServers; 0 asks none")
	cmd.Flags().BoolVar(&f.https, "admin-https", false, "ask the AdminServers by HTTPS, with the settings of --tls")
}

// admin returns how AdminServers are asked by a client with these TLS settings, or nil for none.
func (f *adminFlags) admin(encryption *tls.Config) (health.Admin, error) {
	if !f.https {
		return health.Admin{Port: int(f.port), Dial: dialTo(nil)}, nil
	}
	if encryption == nil {
		return health.Admin{}, console.Usagef("--admin-https needs --tls")
	}
	return health.Admin{Port: int(f.port), Dial: dialTo(encryption)}, nil
}

func (p *program) showHealth(ctx context.Context, format string, flags *adminFlags) error {
	if err := p.settings.Complete(p.LookupEnv); err != nil {
		return console.Usagef("%v", err)
	}
	s, err := settings.NewSession(p.Console, p.settings, settings.Server{}) // checks the settings; it is not started
	if err != nil {
		return err
	}
	encryption, err := p.settings.TLSConfig()
	if err != nil {
		return console.Usagef("%v", err)
	}
	admin, err := flags.admin(encryption)
	if err != nil {
		return err
	}
	s.Signals = console.Listen()
	defer s.Signals.Stop()
	var servers []health.Server
	interrupted, _ := s.Signals.Until(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, healthTimeout)
		defer cancel()
		servers = health.Ask(ctx, dialTo(encryption), s.Ensemble.Servers, admin)
		return nil
	})
	if interrupted != nil {
		return &console.Exit{Code: console.SignalCode(interrupted.Signal)}
	}
	healthy := health.Healthy(servers)
	if err := printHealth(view.Printer{Out: p.Stdout, Format: format}, healthy, servers); err != nil {
		return err
	}
	if !healthy {
		return console.Exitf(console.ExitNo, "the ensemble is not healthy")
	}
	return nil
}

// dialTo returns a function that connects to a server, by TLS unless encryption is nil.
func dialTo(encryption *tls.Config) health.Dial {
	return func(ctx context.Context, address string) (net.Conn, error) {
		if encryption == nil {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
		return (&tls.Dialer{Config: encryption}).DialContext(ctx, "tcp", address)
	}
}

func printHealth(p view.Printer, healthy bool, servers []health.Server) error {
	if p.Format != view.AsTable {
		return p.Document(struct {
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
	return p.Table(rows)
}
