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
groups, services and counters at PATH and below it, / by default: who holds
them, who waits, and since when. The page is updated as they change. It also
shows the nodes, sessions and servers; see docs/ui.md.

The command prints one line, the address to open in a browser. The address
contains a secret, which the browser exchanges for a cookie. Everybody with the
address can see all that the credentials of this command may read, and with
--allow-actions do what they permit. The command serves the page until SIGINT or
SIGTERM, and then exits with 0.

By default it listens on loopback only. For an address that other machines can
reach, a certificate is required, and a file with a secret of at least 16
characters. The printed address then contains no secret, and the page asks for
it.

With --allow-actions the page can ask a holder to release a lock, take a lock
away, delete a node and set its data. An action is refused if the node has
changed, and is logged on standard error with the name that the operator gave.`

// defaultUI is the default address of the page.
const defaultUI = "127.0.0.1:8181"

// leastSecret is the minimum length of the secret in a file.
const leastSecret = 16

// uiFlags are the flags of curator ui.
type uiFlags struct {
	listen     string
	secretFile string
	cert, key  string
	actions    bool
	admin      adminFlags
}

func (p *program) uiCommand() *cobra.Command {
	f := &uiFlags{}
	return p.commandOf(request{
		use: "ui [PATH]", short: "Serve a page that shows locks and other recipes", help: uiHelp, most: 1,
		example: "  curator ui --connect zk1,zk2,zk3 /locks\n" +
			"  curator ui --listen :8443 --listen-cert ui.pem --listen-key ui.key \\\n      --secret-file ui.secret",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&f.listen, "listen", defaultUI, "listen at `ADDR`, host:port; port 0 is any free port")
			cmd.Flags().StringVar(&f.secretFile, "secret-file", "", "the `FILE` with the secret (default a new secret)")
			cmd.Flags().StringVar(&f.cert, "listen-cert", "", "serve by TLS, with the certificate in `FILE`")
			cmd.Flags().StringVar(&f.key, "listen-key", "", "the `FILE` with the private key of the certificate")
			f.admin.add(cmd)
			cmd.Flags().BoolVar(&f.actions, "allow-actions", false, "let the page take locks away, delete nodes and set data")
		},
		check: func([]string) error { return checkListen(f.listen) },
	}, func(ctx context.Context, _ string, args []string) error { return p.showPage(ctx, f, args) })
}

// showPage serves the page until a signal asks this process to end.
func (p *program) showPage(ctx context.Context, f *uiFlags, args []string) error {
	root := "/"
	if len(args) > 0 {
		root = args[0]
	}
	if err := p.settings.Complete(p.lookupEnv); err != nil {
		return usage("%v", err)
	}
	if f.actions && p.settings.ReadOnly {
		return usage("--allow-actions and --read-only cannot be used together")
	}
	cfg, err := f.config()
	if err != nil {
		return usage("%v", err)
	}
	encryption, err := p.settings.TLSConfig()
	if err != nil {
		return usage("%v", err)
	}
	admin, err := f.admin.admin(encryption)
	if err != nil {
		return err
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
			Client: s.client, Root: root, Servers: s.ensemble.servers, Dial: dialTo(encryption), Admin: admin, Actions: f.actions,
		}
		return p.servePage(ctx, cfg, listener, f.secretFile == "")
	})
	_ = s.close(ctx) // the session has no ephemeral nodes; if it cannot be closed, it expires
	if interrupted == nil && err != nil {
		return s.explain(err)
	}
	return nil
}

// checkRoot returns an error if root is not a valid path. The node need not exist.
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
			return cfg, fmt.Errorf("--secret-file %s: the secret must have at least %d characters", f.secretFile, leastSecret)
		}
	}
	switch {
	case f.cert == "" && f.key == "":
		return cfg, nil
	case f.cert == "" || f.key == "":
		return cfg, errors.New("--listen-cert and --listen-key must be given together")
	}
	pair, err := settings.KeyPair("--listen-cert", f.cert, "--listen-key", f.key)
	if err != nil {
		return cfg, err
	}
	cfg.TLS = &pair
	return cfg, nil
}

// listenForPage listens. An address that is not a loopback address is an error unless there are a
// certificate and a file with a secret.
func (p *program) listenForPage(ctx context.Context, f *uiFlags, cfg ui.Config) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, exitWith(exitUnavailable, "cannot listen at %s: the address is in use; --listen 127.0.0.1:0 finds a free port", f.listen)
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
