package main

import (
	"net/url"
	"slices"
	"strings"
)

// heldLocks returns the entry for a lock in CURATOR_LOCKS_HELD, and whether a curator
// lock above this process holds it.
func (p *program) heldLocks(e ensemble, path string) (entry string, held bool) {
	entry = url.QueryEscape(e.lock(path))
	list := p.getenv(envHeld)
	if list == "" { // somebody has taken it away
		return entry, p.getenv(envPath) == path
	}
	return entry, slices.Contains(strings.Fields(list), entry)
}
