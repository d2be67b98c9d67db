// Package settings says which ensemble a command talks to and how: from flags, the
// environment and a file with named ensembles. Nothing here does network I/O, and no
// error has a password in it. A Settings is for one goroutine.
package settings

import (
	"time"

	"github.com/spf13/pflag"
)

// Variables of the environment.
const (
	EnvConnect = "CURATOR_CONNECT"
	EnvAuth    = "CURATOR_AUTH"
	EnvConfig  = "CURATOR_CONFIG"
)

// DefaultConnect is the ensemble if nothing names one.
const DefaultConnect = "127.0.0.1:2181"

const (
	// defaultSessionTimeout is long enough for an ensemble with ZooKeeper's default
	// syncLimit: see framework.WithSessionTimeout.
	defaultSessionTimeout = 30 * time.Second
	minSession            = 10 * time.Millisecond // the least that the client takes
	maxSession            = 24 * time.Hour
)

// Settings are the flags that every command with an ensemble has.
type Settings struct {
	Connect   string
	Namespace string
	ReadOnly  bool
	TLS       bool // also if only another flag of TLS is given

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
	set.StringVar(&s.ensemble, "ensemble", "", "the section `NAME` of the configuration file")
	set.StringVar(&s.Namespace, "namespace", "", "put every path below `NAME`, as Curator's namespace")
	set.StringVar(&s.authFile, "auth-file", "", "credentials, a line digest:user:password each, in `FILE` (default $"+EnvAuth+")")
	set.BoolVar(&s.sasl, "sasl", false, "authenticate by SASL, with the credentials of digest")
	set.BoolVar(&s.TLS, "tls", false, "use TLS; each of the next four flags implies it")
	set.StringVar(&s.ca, "tls-ca", "", "the `FILE` of the authorities that servers are verified by (default the system's)")
	set.StringVar(&s.cert, "tls-cert", "", "the `FILE` of the client's certificate")
	set.StringVar(&s.key, "tls-key", "", "the `FILE` of the certificate's key")
	set.StringVar(&s.serverName, "tls-server-name", "", "the `NAME` that the servers' certificates have")
	set.StringVar(&s.acl, "acl", "", "the `ACL` of nodes that are created: open, creator, or scheme:id:perms,...")
	set.Var(Duration{&s.sessionTimeout, minSession, maxSession}, "session-timeout", "how long ephemeral nodes stay after this process died or lost the network, `D`")
	set.BoolVar(&s.ReadOnly, "read-only", false, "read from a server that has lost its quorum, too")
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

// credential is one of those that the client presents. It is not to be formatted.
type credential struct{ scheme, secret string }
