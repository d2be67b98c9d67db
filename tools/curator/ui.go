package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/settings"
	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
)

const uiHelp = `Serves a page that shows the locks, elections, semaphores, queues, barriers,
groups, services and counters at PATH and below it, / by default, as they
change: who holds what, who waits, and since when. It also shows the nodes,
sessions and servers. docs/ui.md tells more.

It prints one line, the address to open in a browser. The address has a secret,
which the browser exchanges for a cookie. Anybody with the address sees what the
credentials of this command may read, and with --allow-actions does what they
permit. It serves until SIGINT or SIGTERM, and exits with 0.

It listens on loopback. An address that other machines can reach needs a
certificate, and a secret of 16 characters or more from a file: then the printed
address has none, and the page asks for it.

With --allow-actions the page offers to ask for a lock, to take it away, to
delete a node and to set its data. Each is refused if the node is not the same
any more, and each is logged on standard error with the name that the operator
gave.`

// defaultUI is where the page is by default.
const defaultUI = "127.0.0.1:8181"

// leastSecret is the shortest secret that a file may have.
const leastSecret = 16

// uiFlags are the flags of curator ui.
type uiFlags struct {
	listen     string
	secretFile string
	cert, key  string
	actions    bool
	adminPort  uint16
}

func (p *program) uiCommand() *cobra.Command {
	f := &uiFlags{adminPort: defaultAdminPort}
	return p.commandOf(request{
		use: "ui [PATH]", short: "Serve a page that shows locks and other recipes, live", help: uiHelp, most: 1,
		example: "  curator ui --connect zk1,zk2,zk3 /locks\n" +
			"  curator ui --listen :8443 --listen-cert ui.pem --listen-key ui.key \\\n      --secret-file ui.secret",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&f.listen, "listen", defaultUI, "the address `ADDR` to listen at, host:port; with port 0 a free one")
			cmd.Flags().StringVar(&f.secretFile, "secret-file", "", "the `FILE` with the secret (default a new one)")
			cmd.Flags().StringVar(&f.cert, "listen-cert", "", "serve by TLS, with the certificate in `FILE`")
			cmd.Flags().StringVar(&f.key, "listen-key", "", "the `FILE` of the certificate's key")
			cmd.Flags().Uint16Var(&f.adminPort, "admin-port", f.adminPort, "the port `N` of the AdminServers; 0 is none")
			cmd.Flags().BoolVar(&f.actions, "allow-actions", false, "let the page take locks away, delete nodes and set data")
		},
		check: func([]string) error { return checkListen(f.listen) },
	}, func(ctx context.Context, _ string, args []string) error { return p.showPage(ctx, f, args) })
}

// showPage serves the page until a signal asks us to end.
func (p *program) showPage(ctx context.Context, f *uiFlags, args []string) error {
	root := "/"
	if len(args) > 0 {
		root = args[0]
	}
	if err := p.settings.Complete(p.lookupEnv); err != nil {
		return usage("%v", err)
	}
	if f.actions && p.settings.ReadOnly {
		return usage("--allow-actions and --read-only exclude each other")
	}
	cfg, err := f.config()
	if err != nil {
		return usage("%v", err)
	}
	encryption, err := p.settings.TLSConfig()
	if err != nil {
		return usage("%v", err)
	}
	s, err := p.newSession(nil, framework.WithMaxReply(maxReply))
	if err != nil {
		return err
	}
	s.signals = listenSignals()
	defer s.signals.stop()
	listener, err := p.listenForPage(ctx, f, cfg)
	if err != nil {
		return err
	}
	defer listener.Close()
	interrupted, err := s.signals.until(ctx, func(ctx context.Context) error {
		if err := s.connect(ctx, connectTimeout); err != nil {
			return err
		}
		if err := s.checkRoot(ctx, root); err != nil {
			return err
		}
		cfg.Config = follow.Config{
			Client: s.client, Root: root, Servers: s.ensemble.servers, Dial: dialTo(encryption), AdminPort: int(f.adminPort), Actions: f.actions,
		}
		return p.servePage(ctx, cfg, listener, f.secretFile == "")
	})
	_ = s.close(ctx) // the session has no nodes; it expires if the server does not hear of it
	if interrupted == nil && err != nil {
		return s.explain(err)
	}
	return nil
}

// checkRoot refuses a path that is none.
func (s *session) checkRoot(ctx context.Context, root string) error {
	_, err := s.client.CheckExists().ForPath(ctx, root)
	return err
}

// servePage prints the address and serves until ctx ends.
func (p *program) servePage(ctx context.Context, cfg ui.Config, listener net.Listener, withSecret bool) error {
	cfg.Log = p.notes.say
	server, err := ui.New(cfg)
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String() + "/"
	if cfg.TLS != nil {
		address = strings.Replace(address, "http", "https", 1)
	}
	if withSecret {
		address += "#secret=" + cfg.Secret
	}
	p.stdout.printf("%s\n", address)
	return server.Serve(ctx, listener)
}

// config reads the files that the flags name.
func (f *uiFlags) config() (ui.Config, error) {
	cfg := ui.Config{Secret: ui.NewSecret()}
	if f.secretFile != "" {
		text, err := settings.ReadSecret("--secret-file", f.secretFile)
		if err != nil {
			return cfg, err
		}
		if cfg.Secret = strings.TrimSpace(string(text)); len(cfg.Secret) < leastSecret {
			return cfg, fmt.Errorf("--secret-file %s: the secret has less than %d characters", f.secretFile, leastSecret)
		}
	}
	switch {
	case f.cert == "" && f.key == "":
		return cfg, nil
	case f.cert == "" || f.key == "":
		return cfg, errors.New("--listen-cert and --listen-key go together")
	}
	pair, err := settings.KeyPair("--listen-cert", f.cert, "--listen-key", f.key)
	if err != nil {
		return cfg, err
	}
	cfg.TLS = &pair
	return cfg, nil
}

// listenForPage listens, on loopback unless there are a certificate and a secret.
func (p *program) listenForPage(ctx context.Context, f *uiFlags, cfg ui.Config) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, exitWith(exitUnavailable, "cannot listen at %s: something else does; --listen 127.0.0.1:0 finds a free port", f.listen)
	case errors.Is(err, fs.ErrPermission):
		return nil, exitWith(exitForbidden, "cannot listen at %s: not permitted", f.listen)
	case err != nil:
		return nil, exitWith(exitUnavailable, "cannot listen: %v", err)
	}
	bound := listener.Addr().String()
	if !isLoopback(bound) && (cfg.TLS == nil || f.secretFile == "") {
		listener.Close()
		return nil, usage("%s can be reached from other machines: it needs --listen-cert, --listen-key and --secret-file", bound)
	}
	return listener, nil
}
