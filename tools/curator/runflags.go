package main

import (
	"math"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// Environment variables of CMD.
const (
	envPath  = "CURATOR_LOCK_PATH"
	envToken = "CURATOR_FENCING_TOKEN"
	envHeld  = "CURATOR_LOCKS_HELD"
)

const defaultGrace = 5 * time.Second

// runFlags are the flags of a command that runs CMD.
type runFlags struct {
	embedded     bool
	timeout      time.Duration // zero is no limit
	try          bool
	conflictCode int
	grace        time.Duration
	maxHold      time.Duration // zero is no limit
	verbose      bool
	leases       int    // of a semaphore
	id           string // of an election
}

// add adds the flags to a command for a kind of lock.
func (f *runFlags) add(set *pflag.FlagSet, k kind) {
	f.grace = defaultGrace
	set.BoolVar(&f.embedded, "embedded", false, "use a development server, and start it in this process if none runs at the address")
	set.Var(settings.Duration{Value: &f.timeout, Least: time.Millisecond, Most: math.MaxInt64}, "timeout", "wait at most `D`, then give up")
	set.BoolVar(&f.try, "try", false, "do not wait: give up at once if others hold the lock")
	set.IntVarP(&f.conflictCode, "conflict-exit-code", "E", exitBusy, "exit with `N` after --timeout or --try gave up")
	set.Var(settings.Duration{Value: &f.grace, Least: 0, Most: math.MaxInt64}, "grace", "send SIGKILL `D` after SIGTERM")
	set.Var(settings.Duration{Value: &f.maxHold, Least: time.Millisecond, Most: math.MaxInt64}, "max-hold", "end CMD after it has run for `D`")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "log the states of the session")
	switch k.name {
	case "semaphore":
		set.IntVarP(&f.leases, "leases", "n", 0, "the number `N` of the semaphore's leases; required")
	case "elect":
		set.StringVar(&f.id, "id", "", "the `ID` of this participant (default CMD's name, the host and the process)")
	}
}

// complete checks the flags, and sets defaults that depend on others.
func (f *runFlags) complete(p *program, k kind, argv []string) error {
	switch {
	case f.try && f.timeout > 0:
		return usage("--try and --timeout cannot be used together: --try does not wait")
	case f.conflictCode < 0 || f.conflictCode > 255:
		return usage("--conflict-exit-code must be from 0 to 255, not %d", f.conflictCode)
	case k.name == "semaphore" && f.leases == 0:
		return usage("-n is required: the number of the semaphore's leases, 1 or more")
	case k.name == "semaphore" && f.leases < 0:
		return usage("-n must be 1 or more, not %d", f.leases)
	}
	if f.id == "" {
		f.id = participantID(k, argv)
	}
	if !utf8.ValidString(f.id) {
		return usage("--id %q is not valid UTF-8", f.id)
	}
	if err := p.settings.Complete(p.lookupEnv); err != nil {
		return usage("%v", err)
	}
	if p.settings.ReadOnly {
		return usage("curator %s writes to the ensemble, and --read-only is set", k.name)
	}
	servers := parseEnsemble(p.settings.Connect).servers
	switch {
	case !f.embedded:
	case len(servers) != 1 || !isLoopback(servers[0]):
		return usage("--embedded needs one loopback address as the ensemble, such as %s, not %q", settings.DefaultConnect, p.settings.Connect)
	case p.settings.TLS:
		return usage("--embedded and TLS cannot be used together: the embedded server has no TLS")
	}
	return nil
}
