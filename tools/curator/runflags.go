package main

import (
	"math"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// Variables of the environment.
const (
	envPath  = "CURATOR_LOCK_PATH"
	envToken = "CURATOR_FENCING_TOKEN"
	envHeld  = "CURATOR_LOCKS_HELD"
)

const defaultGrace = 5 * time.Second

// runFlags are the flags of a command that runs another.
type runFlags struct {
	embedded     bool
	timeout      time.Duration // zero is none
	try          bool
	conflictCode int
	grace        time.Duration
	maxHold      time.Duration // zero is none
	verbose      bool
	leases       int    // of a semaphore
	id           string // of an election
}

// add adds the flags to those of a command.
func (f *runFlags) add(set *pflag.FlagSet, k kind) {
	f.grace = defaultGrace
	set.BoolVar(&f.embedded, "embedded", false, "use the development server at the address, and start it in this process if none runs")
	set.Var(settings.Duration{Value: &f.timeout, Least: time.Millisecond, Most: math.MaxInt64}, "timeout", "give up when "+k.noun+" was not acquired after `D`")
	set.BoolVar(&f.try, "try", false, "give up at once when others have "+k.noun)
	set.IntVarP(&f.conflictCode, "conflict-exit-code", "E", exitBusy, "the exit status `N` when "+k.noun+" was not acquired")
	set.Var(settings.Duration{Value: &f.grace, Least: 0, Most: math.MaxInt64}, "grace", "the time `D` between SIGTERM and SIGKILL")
	set.Var(settings.Duration{Value: &f.maxHold, Least: time.Millisecond, Most: math.MaxInt64}, "max-hold", "end CMD when it has run for `D`")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "tell the states of the session")
	switch k.name {
	case "semaphore":
		set.IntVarP(&f.leases, "leases", "n", 0, "the number `N` of leases that the semaphore has; required")
	case "elect":
		set.StringVar(&f.id, "id", "", "what this participant calls itself, `ID` (default CMD's name, the host and the process)")
	}
}

// complete checks the flags and fills in what is missing.
func (f *runFlags) complete(p *program, k kind, argv []string) error {
	switch {
	case f.try && f.timeout > 0:
		return usage("--try and --timeout exclude each other: --try does not wait")
	case f.conflictCode < 0 || f.conflictCode > 255:
		return usage("--conflict-exit-code %d is not from 0 to 255", f.conflictCode)
	case k.name == "semaphore" && f.leases == 0:
		return usage("-n is missing: the number of leases that the semaphore has")
	case k.name == "semaphore" && f.leases < 0:
		return usage("-n %d is not the number of leases that a semaphore has", f.leases)
	}
	if f.id == "" {
		f.id = participantID(k, argv)
	}
	if !utf8.ValidString(f.id) {
		return usage("--id %q is not UTF-8", f.id)
	}
	if err := p.settings.Complete(p.lookupEnv); err != nil {
		return usage("%v", err)
	}
	if p.settings.ReadOnly {
		return usage("read-only: curator %s writes to the ensemble", k.name)
	}
	servers := parseEnsemble(p.settings.Connect).servers
	switch {
	case !f.embedded:
	case len(servers) != 1 || !isLoopback(servers[0]):
		return usage("--embedded is for this machine alone: --connect must be one address of it, such as %s, not %q", settings.DefaultConnect, p.settings.Connect)
	case p.settings.TLS:
		return usage("--embedded and the flags of TLS exclude each other: the embedded server has no TLS")
	}
	return nil
}
