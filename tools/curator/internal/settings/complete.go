package settings

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
)

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
