package main

import (
	"os"
	"strings"

	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// program is one run of the command line tool.
type program struct {
	args          []string
	stdin, stderr *os.File
	stdout        *stdout
	env           []string
	self          string // the path of this binary, "" if it is not known
	notes         *notes
	settings      *settings.Settings
}

// lookupEnv returns the value of an environment variable, and whether it is set.
func (p *program) lookupEnv(name string) (value string, ok bool) {
	for _, entry := range p.env {
		if v, found := strings.CutPrefix(entry, name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}

// getenv returns the value of an environment variable, "" if it is not set.
func (p *program) getenv(name string) string {
	value, _ := p.lookupEnv(name)
	return value
}
