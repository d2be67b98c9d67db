package settings

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
)

// entry is a line of a section.
type entry struct {
	key, value string
	line       int
}

// fileSettings are the settings with names of files, which in a section are relative to the directory
// of the configuration file.
var fileSettings = []string{"auth-file", "tls-ca", "tls-cert", "tls-key"}

// useSection sets the flags that were not given to the values of the section. It returns the
// credentials that are in the section.
func (s *Settings) useSection(getenv func(name string) (string, bool)) (auth string, err error) {
	if s.ensemble == "" {
		return "", errors.New("--ensemble is empty: it must name a section of the configuration file")
	}
	path, err := configPath(getenv)
	if err != nil {
		return "", err
	}
	content, public, err := readFile("the configuration file", path)
	if err != nil {
		return "", fmt.Errorf("--ensemble %s: %w", s.ensemble, err)
	}
	sections, err := parseConfig(string(content))
	if err != nil { // it contains no values, which may be secret
		return "", fmt.Errorf("%s, %w", path, err)
	}
	section, found := sections[s.ensemble]
	if !found {
		names := strings.Join(slices.Sorted(maps.Keys(sections)), ", ")
		return "", fmt.Errorf("%s has no section [%s]; it has: %s", path, s.ensemble, names)
	}
	if public && hasSecrets(sections) {
		return "", fmt.Errorf("%s has credentials: %w", path, errPublic)
	}
	for _, e := range section {
		if e.key == "auth" {
			auth += e.value + "\n"
			continue
		}
		if slices.Contains(fileSettings, e.key) && e.value != "" && !filepath.IsAbs(e.value) {
			e.value = filepath.Join(filepath.Dir(path), e.value)
		}
		if err := s.setFlag(e); err != nil {
			return "", fmt.Errorf("%s, line %d: %w", path, e.line, err)
		}
	}
	if s.Connect == "" {
		return "", fmt.Errorf("%s: the section [%s] has no key connect", path, s.ensemble)
	}
	return auth, nil
}

// setFlag sets the flag of an entry, unless it was given on the command line.
func (s *Settings) setFlag(e entry) error {
	flag := s.set.Lookup(e.key)
	switch {
	case flag == nil || e.key == "ensemble":
		return fmt.Errorf("unknown key %q", e.key)
	case flag.Changed:
		return nil
	case e.value == "":
		return fmt.Errorf("%s is empty", e.key)
	}
	if err := flag.Value.Set(e.value); err != nil {
		return fmt.Errorf("%s: %w", e.key, err)
	}
	return nil
}

// configPath returns the path of the configuration file.
func configPath(getenv func(name string) (string, bool)) (string, error) {
	if path, _ := getenv(EnvConfig); path != "" {
		return path, nil
	}
	dir, _ := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the XDG specification says to ignore a relative path
		home, _ := getenv("HOME")
		if home == "" {
			return "", fmt.Errorf("--ensemble: no configuration file: none of %s, XDG_CONFIG_HOME and HOME is set", EnvConfig)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "curator", "config"), nil
}

// parseConfig parses sections: a line [name], and after it lines key = value. A line that begins
// with # is a comment.
func parseConfig(text string) (map[string][]entry, error) {
	sections := map[string][]entry{}
	name, number := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch key, value, isEntry := strings.Cut(line, "="); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			if name = strings.TrimSpace(strings.Trim(line, "[]")); name == "" || !strings.HasSuffix(line, "]") {
				return nil, fmt.Errorf("line %d: a section must begin with [NAME]", number)
			}
			if _, twice := sections[name]; twice {
				return nil, fmt.Errorf("line %d: there is a section [%s] already", number, name)
			}
			sections[name] = nil
		case !isEntry:
			return nil, fmt.Errorf("line %d: the line is neither [NAME] nor key = value", number)
		case name == "":
			return nil, fmt.Errorf("line %d: the line is before the first [NAME]", number)
		default:
			sections[name] = append(sections[name], entry{strings.TrimSpace(key), strings.TrimSpace(value), number})
		}
	}
	return sections, nil
}

// hasSecrets reports whether a section contains credentials.
func hasSecrets(sections map[string][]entry) bool {
	for _, section := range sections {
		if slices.ContainsFunc(section, func(e entry) bool { return e.key == "auth" }) {
			return true
		}
	}
	return false
}

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
