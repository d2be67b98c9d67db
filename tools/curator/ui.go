package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/demo"
	"github.com/go-curator/curator/tools/curator/internal/screen"
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
	if err := p.settings.Complete(p.LookupEnv); err != nil {
		return console.Usagef("%v", err)
	}
	if f.actions && p.settings.ReadOnly {
		return console.Usagef("--allow-actions and --read-only cannot be used together")
	}
	cfg, err := f.config()
	if err != nil {
		return console.Usagef("%v", err)
	}
	encryption, err := p.settings.TLSConfig()
	if err != nil {
		return console.Usagef("%v", err)
	}
	admin, err := f.admin.admin(encryption)
	if err != nil {
		return err
	}
	s, err := settings.NewSession(p.Console, p.settings, settings.Server{}, framework.WithMaxReply(maxReply))
	if err != nil {
		return err
	}
	s.Signals = console.Listen()
	defer s.Signals.Stop()
	listener, err := p.listenForPage(ctx, f, cfg)
	if err != nil {
		return err
	}
	defer listener.Close()
	interrupted, err := s.Signals.Until(ctx, func(ctx context.Context) error {
		if err := s.Connect(ctx, settings.ConnectTimeout); err != nil {
			return err
		}
		if err := checkRoot(ctx, s, root); err != nil {
			return err
		}
		cfg.Config = follow.Config{
			Client: s.Client, Root: root, Servers: s.Ensemble.Servers, Dial: dialTo(encryption), Admin: admin, Actions: f.actions,
		}
		return p.servePage(ctx, cfg, listener, f.secretFile == "")
	})
	_ = s.Close(ctx) // the session has no ephemeral nodes; if it cannot be closed, it expires
	if interrupted == nil && err != nil {
		return s.Explain(err)
	}
	return nil
}

// checkRoot returns an error if root is not a valid path. The node need not exist, and need not be readable.
func checkRoot(ctx context.Context, s *settings.Session, root string) error {
	_, err := s.Client.CheckExists().ForPath(ctx, root)
	if errors.Is(err, framework.ErrNoAuth) {
		return nil
	}
	return err
}

// servePage prints the address and serves until ctx ends.
func (p *program) servePage(ctx context.Context, cfg ui.Config, listener net.Listener, withSecret bool) error {
	cfg.Log = p.Notes.Say
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
	p.Stdout.Printf("%s\n", address)
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
		return nil, console.Exitf(console.ExitUnavailable, "cannot listen at %s: the address is in use; --listen 127.0.0.1:0 finds a free port", f.listen)
	case errors.Is(err, fs.ErrPermission):
		return nil, console.Exitf(console.ExitForbidden, "cannot listen at %s: not permitted", f.listen)
	case err != nil:
		return nil, console.Exitf(console.ExitUnavailable, "cannot listen: %v", err)
	}
	bound := listener.Addr().String()
	if !settings.IsLoopback(bound) && (cfg.TLS == nil || f.secretFile == "") {
		listener.Close()
		return nil, console.Usagef("%s can be reached from other machines: it needs --listen-cert, --listen-key and --secret-file", bound)
	}
	return listener, nil
}

const demoHelp = `Shows how locks are used and handed over. It needs no installation: it starts an
embedded ZooKeeper server inside this process, and nine workers with a session
each. Three share a mutex, three a read-write lock, and three take part in an
election.

On a terminal it shows, as it changes, who holds each lock, with which token,
and who waits. First the leader is killed. When its session has expired, another
worker leads, with a higher token. Then a worker that holds the mutex is frozen,
and another worker gets the mutex. When the frozen worker continues, its late
write is refused because its token is too low. This is repeated until q or
Ctrl-C. Without a terminal it is played once, and each event is a line.

The server listens on the loopback interface, at the address in the first line.
In another terminal, curator locks --watch --connect ADDR shows its locks. The
server stores nothing.

With --ui the command shows everything on the page of curator ui, with actions.
It prints the page's address, and runs until Ctrl-C.`

func (p *program) demoCommand() *cobra.Command {
	speed, page := 1.0, false
	cmd := &cobra.Command{
		Use: "demo", Short: "Show how locks work, on an embedded server", Long: demoHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.Usagef("curator demo takes no arguments, got %q", args[0])
			}
			if given := p.settings.Given(); len(given) > 0 {
				return console.Usagef("curator demo does not take %s: it starts its own server", given[0])
			}
			if !(speed >= 0.1 && speed <= 5) {
				return console.Usagef("--speed %v is not between 0.1 and 5", speed)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.demonstrate(cmd.Context(), time.Duration(float64(time.Second)/speed), page)
		},
	}
	cmd.Flags().Float64Var(&speed, "speed", speed, "play `N` times as fast, from 0.1 to 5")
	cmd.Flags().BoolVar(&page, "ui", false, "show it on the page of curator ui")
	return cmd
}

// demonstrate runs the demonstration until it ends, or until a signal asks this process to end.
func (p *program) demonstrate(ctx context.Context, unit time.Duration, page bool) error {
	sigs := console.Listen()
	defer sigs.Stop()
	interrupted, err := sigs.Until(ctx, func(ctx context.Context) (err error) {
		fleet := demo.New(demo.Options{Unit: unit})
		if err := fleet.Start(ctx); err != nil {
			return console.Exitf(console.ExitUnavailable, "cannot start the demonstration: %v", err)
		}
		defer func() { err = errors.Join(err, fleet.Close(ctx)) }()
		if page {
			return p.showStoryOnPage(ctx, fleet)
		}
		terminal, err := openScreen(p.Console)
		if errors.Is(err, screen.ErrNoTerminal) {
			return fleet.Tell(ctx, p.Stdout)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, terminal.Close()) }()
		return fleet.Show(ctx, terminal)
	})
	if interrupted != nil {
		return &console.Exit{Code: console.SignalCode(interrupted.Signal)}
	}
	return err
}

// showStoryOnPage serves the page of curator ui for the fleet, and plays the story repeatedly until
// ctx ends.
func (p *program) showStoryOnPage(ctx context.Context, fleet *demo.Fleet) error {
	listener, err := p.listenForPage(ctx, &uiFlags{listen: "127.0.0.1:0"}, ui.Config{})
	if err != nil {
		return err
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(ctx)
	var told error
	var wg sync.WaitGroup
	wg.Go(func() {
		for told == nil {
			told = fleet.Play(ctx)
		}
		cancel()
	})
	served := p.servePage(ctx, ui.Config{
		Config: follow.Config{
			Client: fleet.Client(), Root: "/", Servers: []string{fleet.ConnectString()},
			Dial: func(ctx context.Context, address string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", address)
			},
			Actions: true, // they can do no harm: the server stores nothing
		},
		Secret: ui.NewSecret(),
	}, listener, true)
	cancel()
	wg.Wait()
	if errors.Is(told, context.Canceled) {
		told = nil
	}
	return errors.Join(served, told)
}
