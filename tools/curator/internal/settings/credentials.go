package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-curator/curator/framework"
)

// readCredentials takes the credentials from the first source that has any: the file of
// --auth-file, the section, and the environment.
func (s *Settings) readCredentials(section string, getenv func(name string) (string, bool)) error {
	var source, text string
	switch env, ok := getenv(EnvAuth); {
	case s.set.Changed("auth-file") && s.authFile == "":
		return errors.New("--auth-file is empty: it must name a file")
	case s.authFile != "":
		content, err := ReadSecret("--auth-file", s.authFile)
		if err != nil {
			return err
		}
		source, text = "--auth-file "+s.authFile, string(content)
	case section != "":
		source, text = "auth of the section "+s.ensemble, section
	case ok && env == "":
		return fmt.Errorf("%s is set, but empty: it must be digest:user:password", EnvAuth)
	case ok:
		source, text = EnvAuth, env
	default:
		return nil
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c, err := parseCredential(line)
		if err != nil { // it does not contain the line, which may be secret
			return fmt.Errorf("%s, line %d: %w", source, number, err)
		}
		s.credentials = append(s.credentials, c)
	}
	if len(s.credentials) == 0 {
		return fmt.Errorf("%s has no credentials", source)
	}
	return nil
}

func parseCredential(line string) (credential, error) {
	scheme, secret, found := strings.Cut(line, ":")
	if !found || scheme == "" || secret == "" {
		return credential{}, errors.New("it is not scheme:credential, such as digest:user:password")
	}
	if user, _, found := strings.Cut(secret, ":"); scheme == "digest" && (!found || user == "") {
		return credential{}, errors.New("it is not digest:user:password")
	}
	return credential{scheme, secret}, nil
}

// authentication returns the client's options for the credentials.
func (s *Settings) authentication() (opts []framework.Option, err error) {
	mechanisms := 0
	for _, c := range s.credentials {
		if !s.sasl || c.scheme != "digest" {
			opts = append(opts, framework.WithAuthorization(c.scheme, []byte(c.secret)))
			continue
		}
		user, password, _ := strings.Cut(c.secret, ":")
		start, err := framework.DigestMD5(user, password)
		if err != nil {
			return nil, errors.New("--sasl: the user or the password is empty, has control characters or is not UTF-8")
		}
		mechanisms++
		opts = append(opts, framework.WithSASL(start))
	}
	if s.sasl && mechanisms != 1 {
		return nil, fmt.Errorf("--sasl needs exactly one credential digest:user:password, in --auth-file or %s, not %d", EnvAuth, mechanisms)
	}
	return opts, nil
}
