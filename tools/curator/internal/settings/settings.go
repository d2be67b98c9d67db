// Package settings says which ensemble a command talks to and how: from flags, the environment and a file
// with named ensembles. A Session is a client with these settings, which gives up early if no server can be
// reached. No error has a password in it. A Settings and a Session are for one goroutine; when the context of
// Connect or Close ends, it returns.
package settings

import (
	"errors"
	"fmt"
	"strings"
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

// ParseACL parses an ACL: open, creator, or entries scheme:id:perms separated by commas, as in
// ZooKeeper's shell. An id may contain colons and commas, as those of the scheme x509 do.
func ParseACL(text string) ([]framework.ACL, error) {
	switch text {
	case "":
		return nil, errors.New("the ACL is empty")
	case "open":
		return framework.OpenACLUnsafe(), nil
	case "creator":
		return framework.CreatorAllACL(), nil
	}
	var list []framework.ACL
	entry := ""
	for part := range strings.SplitSeq(text, ",") {
		entry += part
		acl, ok := parseEntry(entry)
		if !ok { // the comma is part of the id
			entry += ","
			continue
		}
		list, entry = append(list, acl), ""
	}
	if entry != "" {
		return nil, fmt.Errorf("%q is not scheme:id:perms with perms from the letters cdrwa, such as world:anyone:r", strings.TrimSuffix(entry, ","))
	}
	return list, nil
}

// permissions are the letters that ZooKeeper's shell has for permissions.
var permissions = map[rune]framework.Perm{
	'c': framework.PermCreate, 'd': framework.PermDelete, 'r': framework.PermRead,
	'w': framework.PermWrite, 'a': framework.PermAdmin,
}

func parseEntry(entry string) (acl framework.ACL, ok bool) {
	scheme, rest, _ := strings.Cut(entry, ":")
	i := strings.LastIndex(rest, ":")
	if scheme == "" || i < 0 || rest[i+1:] == "" {
		return acl, false
	}
	acl.Scheme, acl.ID = scheme, rest[:i]
	for _, letter := range rest[i+1:] {
		perm, known := permissions[letter]
		if !known {
			return acl, false
		}
		acl.Perms |= perm
	}
	return acl, true
}

// Duration is the value of a flag with a duration from Least to Most. Zero is valid if Least is
// zero; any other value below a millisecond is refused as a mistake.
type Duration struct {
	Value       *time.Duration
	Least, Most time.Duration
}

// String returns the value, "" for zero.
func (d Duration) String() string {
	if d.Value == nil || *d.Value == 0 {
		return ""
	}
	return d.Value.String()
}

// Type returns the name of the value in the help.
func (d Duration) Type() string { return "D" }

// Set parses the value.
func (d Duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil && text != "" && strings.Trim(text, "0123456789.") == "":
		return fmt.Errorf("it needs a unit, such as %ss or %[1]sms", text)
	case err != nil:
		return errors.New("it is not a duration such as 500ms, 10s or 1h30m")
	case v < 0:
		return errors.New("it must not be negative")
	case v == 0 && d.Least > 0:
		return errors.New("it must be more than zero")
	case v < d.Least:
		return fmt.Errorf("it must be at least %v", d.Least)
	case v > 0 && v < time.Millisecond:
		return errors.New("it must be at least 1ms")
	case v > d.Most:
		return fmt.Errorf("it must be at most %v", d.Most)
	}
	*d.Value = v
	return nil
}
