package main

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Variables of the environment.
const (
	envConnect = "CURATOR_CONNECT"
	envPath    = "CURATOR_LOCK_PATH"
	envToken   = "CURATOR_FENCING_TOKEN"
	envHeld    = "CURATOR_LOCKS_HELD"
)

const (
	defaultGrace = 5 * time.Second
	// defaultSessionTimeout is long enough for an ensemble with ZooKeeper's default
	// syncLimit: see framework.WithSessionTimeout.
	defaultSessionTimeout = 30 * time.Second
	minSession            = 10 * time.Millisecond // what the client takes
	maxSession            = 24 * time.Hour
)

// lockFlags are the flags of curator lock.
type lockFlags struct {
	connect        string
	embedded       bool
	timeout        time.Duration // zero is none
	try            bool
	conflictCode   int
	grace          time.Duration
	maxHold        time.Duration // zero is none
	sessionTimeout time.Duration
}

func (p *program) lockCommand() *cobra.Command {
	flags := lockFlags{grace: defaultGrace, sessionTimeout: defaultSessionTimeout}
	cmd := &cobra.Command{
		Use:     "lock [flags] PATH -- CMD [ARG...]",
		Short:   "Run a command while holding a lock",
		Long:    lockHelp,
		Example: lockExample,
	}
	set := cmd.Flags()
	set.StringVar(&flags.connect, "connect", "", "the ensemble, `HOSTS` as host:port,...[/chroot] (default $"+envConnect+", else "+defaultConnect+")")
	set.BoolVar(&flags.embedded, "embedded", false, "use the development server at the address, and start it in this process if none runs")
	set.Var(duration{&flags.timeout, time.Millisecond, math.MaxInt64}, "timeout", "give up when the lock was not acquired after `D`")
	set.BoolVar(&flags.try, "try", false, "give up at once when others hold the lock")
	set.IntVarP(&flags.conflictCode, "conflict-exit-code", "E", exitBusy, "the exit code `N` when the lock was not acquired")
	set.Var(duration{&flags.grace, 0, math.MaxInt64}, "grace", "the time `D` between SIGTERM and SIGKILL")
	set.Var(duration{&flags.maxHold, time.Millisecond, math.MaxInt64}, "max-hold", "end CMD when it has run for `D`")
	set.Var(duration{&flags.sessionTimeout, minSession, maxSession}, "session-timeout", "how long the lock stays held after this process died or lost the network, `D`")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !slices.Contains(p.args, "--") {
			return usage("%s", noDash(set, p.args))
		}
		return usage("%v; see %s --help", err, cmd.CommandPath())
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, argv, err := p.splitLockArgs(set, args, cmd.ArgsLenAtDash())
		if err == nil {
			err = flags.complete(p)
		}
		if err != nil {
			return err
		}
		l, err := p.newLock(flags, path, argv)
		if err != nil {
			return err
		}
		return l.run(cmd.Context())
	}
	return cmd
}

// splitLockArgs returns PATH, and CMD with its arguments.
func (p *program) splitLockArgs(set *pflag.FlagSet, args []string, dash int) (path string, argv []string, err error) {
	switch {
	case dash < 0:
		return "", nil, usage("%s", noDash(set, p.args))
	case dash == 0:
		return "", nil, usage("no PATH before the --: curator lock PATH -- %s", quote(args))
	case dash > 1:
		return "", nil, usage("more than a PATH before the --: %s", quote(args[:dash]))
	case dash == len(args):
		return "", nil, usage("no command behind the --: curator lock %s -- CMD", quote(args))
	}
	return args[0], args[1:], nil
}

// complete checks the flags and fills in what the environment has.
func (f *lockFlags) complete(p *program) error {
	if f.connect == "" {
		f.connect = p.getenv(envConnect)
	}
	if f.connect == "" {
		f.connect = defaultConnect
	}
	switch {
	case f.try && f.timeout > 0:
		return usage("--try and --timeout exclude each other: --try does not wait")
	case f.conflictCode < 0 || f.conflictCode > 255:
		return usage("--conflict-exit-code %d is not from 0 to 255", f.conflictCode)
	}
	servers := parseEnsemble(f.connect).servers
	if f.embedded && (len(servers) != 1 || !isLoopback(servers[0])) {
		return usage("--embedded is for this machine alone: --connect must be one address of it, such as %s, not %q", defaultConnect, f.connect)
	}
	return nil
}

// noDash says what a command line without -- should be.
func noDash(set *pflag.FlagSet, args []string) string {
	lock := slices.Index(args, "lock")
	args = slices.Delete(slices.Clone(args), lock, lock+1)
	var ours []string
	path := false
	for i := 0; i < len(args); i++ {
		n := flagLen(set, args[i])
		if n == 0 && path {
			return "there must be a -- before the command: curator lock " + quote(ours) + " -- " + quote(args[i:])
		}
		path = path || n == 0
		n = min(max(n, 1), len(args)-i)
		ours = append(ours, args[i:i+n]...)
		i += n - 1
	}
	if !path {
		ours = append(ours, "PATH")
	}
	return "there must be a -- and a command: curator lock " + quote(ours) + " -- CMD"
}

// flagLen returns how many arguments the flag takes that begins with arg, itself
// included, and 0 if it is none of ours.
func flagLen(set *pflag.FlagSet, arg string) int {
	name, _, whole := strings.Cut(arg, "=")
	var flag *pflag.Flag
	if long, ok := strings.CutPrefix(name, "--"); ok {
		flag = set.Lookup(long)
	} else if short, ok := strings.CutPrefix(name, "-"); ok && short != "" {
		flag = set.ShorthandLookup(short[:1])
		whole = whole || len(short) > 1
	}
	switch {
	case flag == nil:
		return 0
	case whole || flag.NoOptDefVal != "":
		return 1
	}
	return 2
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// quote writes arguments as a shell reads them.
func quote(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if arg == "" || strings.Trim(arg, plain) != "" {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

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
