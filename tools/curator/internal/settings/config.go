package settings

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
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
