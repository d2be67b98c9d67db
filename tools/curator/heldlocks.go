package main

import (
	"net/url"
	"slices"
	"strings"
)

// heldLocks returns the entry of a lock in CURATOR_LOCKS_HELD, and whether this process runs inside
// the CMD of a curator that holds the lock.
func (p *program) heldLocks(e ensemble, path string) (entry string, held bool) {
	entry = url.QueryEscape(e.lock(path))
	list := p.getenv(envHeld)
	if list == "" { // a program in between has removed the variable
		return entry, p.getenv(envPath) == path
	}
	return entry, slices.Contains(strings.Fields(list), entry)
}
