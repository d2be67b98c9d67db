// Package settings says which ensemble a command talks to and how: from flags, the
// environment and a file with named ensembles. A Session is the
// client with these settings. No error has a password in it. A Settings is for one goroutine.
package settings

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/go-curator/curator/framework"
)

// Environment variables.
const (
	EnvConnect = "CURATOR_CONNECT"
	EnvAuth    = "CURATOR_AUTH"
	EnvConfig  = "CURATOR_CONFIG"
)

// DefaultConnect is the connect string if nothing else gives one.
const DefaultConnect = "127.0.0.1:2181"

const (
	// defaultSessionTimeout is long enough for an ensemble with ZooKeeper's default
	// syncLimit: see framework.WithSessionTimeout.
	defaultSessionTimeout = 30 * time.Second
	minSession            = 10 * time.Millisecond // the minimum of the client
	maxSession            = 24 * time.Hour
)

// Settings are the flags of every command that connects to an ensemble.
type Settings struct {
	Connect   string
	Namespace string
	ReadOnly  bool
	TLS       bool // set by --tls, and by Complete if another TLS flag is given

	ensemble       string
	authFile       string
	sasl           bool
	ca, cert, key  string
	serverName     string
	acl            string
	sessionTimeout time.Duration

	set         *pflag.FlagSet
	credentials []credential
}

// New returns the settings with their flags.
func New() *Settings {
	s := &Settings{sessionTimeout: defaultSessionTimeout, set: pflag.NewFlagSet("", pflag.ContinueOnError)}
	set := s.set
	set.SortFlags = false
	set.StringVar(&s.Connect, "connect", "", "the ensemble, `HOSTS` as host:port,...[/chroot] (default $"+EnvConnect+", else "+DefaultConnect+")")
	set.StringVar(&s.ensemble, "ensemble", "", "use the section `NAME` of the configuration file")
	set.StringVar(&s.Namespace, "namespace", "", "put every path below `NAME`, as Curator's namespace does")
	set.StringVar(&s.authFile, "auth-file", "", "read credentials from `FILE`, a line digest:user:password for each (default $"+EnvAuth+")")
	set.BoolVar(&s.sasl, "sasl", false, "authenticate by SASL, with the digest credential")
	set.BoolVar(&s.TLS, "tls", false, "use TLS; each of the next four flags implies it")
	set.StringVar(&s.ca, "tls-ca", "", "verify servers with the certificate authorities in `FILE` (default the system's)")
	set.StringVar(&s.cert, "tls-cert", "", "the `FILE` with the client's certificate")
	set.StringVar(&s.key, "tls-key", "", "the `FILE` with the private key of the certificate")
	set.StringVar(&s.serverName, "tls-server-name", "", "the `NAME` in the servers' certificates")
	set.StringVar(&s.acl, "acl", "", "create nodes with this `ACL`: open, creator, or scheme:id:perms,...")
	set.Var(Duration{&s.sessionTimeout, minSession, maxSession}, "session-timeout", "delete ephemeral nodes `D` after this process dies or loses the network")
	set.BoolVar(&s.ReadOnly, "read-only", false, "do not write, and read also from a server that has lost its quorum")
	return s
}

// Flags returns the flags, to be added to those of a command.
func (s *Settings) Flags() *pflag.FlagSet { return s.set }

// Given returns the names of the flags that were given.
func (s *Settings) Given() (names []string) {
	s.set.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// credential is one that the client sends to servers. It must not be formatted, because it is secret.
type credential struct{ scheme, secret string }

// Complete sets the values that no flag has set, from the section of the configuration file that
// --ensemble names, from the environment, and to their defaults. getenv returns the value of an
// environment variable, and whether it is set.
func (s *Settings) Complete(getenv func(name string) (value string, ok bool)) error {
	if s.set.Changed("connect") && s.Connect == "" {
		return errors.New("--connect is empty: it must name the ensemble, as host:port,host:port")
	}
	for _, name := range notEmpty {
		if s.set.Changed(name) && s.set.Lookup(name).Value.String() == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	var auth string // the credentials of the section
	if s.set.Changed("ensemble") {
		if s.set.Changed("connect") {
			return errors.New("--connect and --ensemble cannot be used together: both name the ensemble")
		}
		var err error
		if auth, err = s.useSection(getenv); err != nil {
			return err
		}
	} else if connect, ok := getenv(EnvConnect); ok && s.Connect == "" {
		if connect == "" {
			return fmt.Errorf("%s is set, but empty: it must name the ensemble, as host:port,host:port", EnvConnect)
		}
		s.Connect = connect
	}
	if s.Connect == "" {
		s.Connect = DefaultConnect
	}
	if err := s.readCredentials(auth, getenv); err != nil {
		return err
	}
	s.TLS = s.TLS || s.ca != "" || s.cert != "" || s.key != "" || s.serverName != ""
	return nil
}

// notEmpty are the flags whose empty value is refused. Otherwise an empty variable of a script would
// turn TLS off, give nodes an open ACL, or move paths out of the namespace.
var notEmpty = []string{"namespace", "tls-ca", "tls-cert", "tls-key", "tls-server-name", "acl"}

// Options returns the options of the client. It reads the files of the TLS flags.
func (s *Settings) Options() ([]framework.Option, error) {
	opts := []framework.Option{framework.WithSessionTimeout(s.sessionTimeout)}
	if s.Namespace != "" {
		opts = append(opts, framework.WithNamespace(s.Namespace))
	}
	if s.ReadOnly {
		opts = append(opts, framework.WithReadOnly())
	}
	credentials, err := s.authentication()
	if err != nil {
		return nil, err
	}
	opts = append(opts, credentials...)
	settings, err := s.TLSConfig()
	if err != nil {
		return nil, err
	}
	if settings != nil {
		opts = append(opts, framework.WithTLS(settings))
	}
	if s.acl != "" {
		acl, err := ParseACL(s.acl)
		if err != nil {
			return nil, fmt.Errorf("--acl: %w", err)
		}
		opts = append(opts, framework.WithDefaultACL(acl...))
	}
	return opts, nil
}
