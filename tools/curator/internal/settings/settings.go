// Package settings says which ensemble a command talks to and how: from flags, the
// environment and a file with named ensembles. Nothing here does network I/O, and no
// error has a password in it. A Settings is for one goroutine.
package settings

import (
	"time"

	"github.com/spf13/pflag"
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
