package main

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/hold"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// runCommand returns the command of curator that runs CMD under a lock of the kind k.
func (p *program) runCommand(k kind) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:     k.Name + " [flags] PATH -- CMD [ARG...]",
		Short:   k.short,
		Long:    k.help,
		Example: k.example,
	}
	set := cmd.Flags()
	flags.add(set, k)
	p.completePaths(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !slices.Contains(p.Args, "--") {
			return console.Usagef("%s", noDash(k.Name, set, p.Args))
		}
		return console.Usagef("%v; see %s --help", err, cmd.CommandPath())
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, argv, err := p.splitRunArgs(k.Name, set, args, cmd.ArgsLenAtDash())
		if err == nil {
			err = flags.complete(p, k, argv)
		}
		if err != nil {
			return err
		}
		task := hold.Task{Options: flags.Options, Kind: k.Kind, Path: path, Argv: argv}
		if flags.embedded {
			task.Local = &embedded{address: p.settings.Ensemble().Servers[0], notes: p.Notes}
		}
		h, err := hold.New(p.Console, p.settings, task)
		if err != nil {
			return err
		}
		return h.Run(cmd.Context())
	}
	return cmd
}

// kind is a kind of lock that CMD can run under, as a command of curator.
type kind struct {
	hold.Kind
	short, help, example string
}

// kinds are all kinds of locks. The rules for CMD are the same for all of them.
var kinds = []kind{
	{
		short: "Run a command while holding a lock", help: lockHelp, example: lockExample,
		Kind: hold.Kind{
			Name: "lock", Noun: "the lock", Held: "held", Got: "acquired",
			Open: func(client *framework.Client, path string, _ hold.Options) (locks.InterProcessLock, error) {
				return locks.NewInterProcessMutex(client, path)
			},
		},
	},
	{
		short: "Run a command while holding a read lock", help: rlockHelp, example: rlockExample,
		Kind: hold.Kind{
			Name: "rlock", Noun: "the read lock", Held: "held", Got: "acquired",
			Open: func(client *framework.Client, path string, _ hold.Options) (locks.InterProcessLock, error) {
				lock, err := locks.NewInterProcessReadWriteLock(client, path)
				if err != nil {
					return nil, err
				}
				return lock.ReadLock(), nil
			},
		},
	},
	{
		short: "Run a command while holding a write lock", help: wlockHelp, example: wlockExample,
		Kind: hold.Kind{
			Name: "wlock", Noun: "the write lock", Held: "held", Got: "acquired",
			Open: func(client *framework.Client, path string, _ hold.Options) (locks.InterProcessLock, error) {
				lock, err := locks.NewInterProcessReadWriteLock(client, path)
				if err != nil {
					return nil, err
				}
				return lock.WriteLock(), nil
			},
		},
	},
	{
		short: "Run a command while holding one of N leases", help: semaphoreHelp, example: semaphoreExample,
		Kind: hold.Kind{
			Name: "semaphore", Noun: "the semaphore", Held: "held", Got: "acquired",
			Open: func(client *framework.Client, path string, o hold.Options) (locks.InterProcessLock, error) {
				return locks.NewInterProcessSemaphoreV2(client, path, o.Leases)
			},
		},
	},
	{
		short: "Run a command while leading an election", help: electHelp, example: electExample,
		Kind: hold.Kind{
			Name: "elect", Noun: "the election", Held: "led", Got: "won",
			// The LeaderSelector of package leader, and that of Java, use a mutex, with the ids of the
			// participants as the data of its nodes. A LeaderSelector itself could not do --try.
			Open: func(client *framework.Client, path string, o hold.Options) (locks.InterProcessLock, error) {
				return locks.NewInterProcessMutex(client, path, locks.WithNodeData([]byte(o.ID)))
			},
		},
	},
}

const defaultGrace = 5 * time.Second

// runFlags are the flags of a command that runs CMD.
type runFlags struct {
	hold.Options
	embedded bool
}

// add adds the flags to a command for a kind of lock.
func (f *runFlags) add(set *pflag.FlagSet, k kind) {
	f.Grace = defaultGrace
	set.BoolVar(&f.embedded, "embedded", false, "use a development server, and start it in this process if none runs at the address")
	set.Var(settings.Duration{Value: &f.Timeout, Least: time.Millisecond, Most: math.MaxInt64}, "timeout", "wait at most `D`, then give up")
	set.BoolVar(&f.Try, "try", false, "do not wait: give up at once if others hold the lock")
	set.IntVarP(&f.ConflictCode, "conflict-exit-code", "E", console.ExitBusy, "exit with `N` after --timeout or --try gave up")
	set.Var(settings.Duration{Value: &f.Grace, Least: 0, Most: math.MaxInt64}, "grace", "send SIGKILL `D` after SIGTERM")
	set.Var(settings.Duration{Value: &f.MaxHold, Least: time.Millisecond, Most: math.MaxInt64}, "max-hold", "end CMD after it has run for `D`")
	set.BoolVarP(&f.Verbose, "verbose", "v", false, "log the states of the session")
	switch k.Name {
	case "semaphore":
		set.IntVarP(&f.Leases, "leases", "n", 0, "the number `N` of the semaphore's leases; required")
	case "elect":
		set.StringVar(&f.ID, "id", "", "the `ID` of this participant (default CMD's name, the host and the process)")
	}
}

// complete checks the flags, and sets defaults that depend on others.
func (f *runFlags) complete(p *program, k kind, argv []string) error {
	switch {
	case f.Try && f.Timeout > 0:
		return console.Usagef("--try and --timeout cannot be used together: --try does not wait")
	case f.ConflictCode < 0 || f.ConflictCode > 255:
		return console.Usagef("--conflict-exit-code must be from 0 to 255, not %d", f.ConflictCode)
	case k.Name == "semaphore" && f.Leases == 0:
		return console.Usagef("-n is required: the number of the semaphore's leases, 1 or more")
	case k.Name == "semaphore" && f.Leases < 0:
		return console.Usagef("-n must be 1 or more, not %d", f.Leases)
	}
	if f.ID == "" {
		f.ID = hold.DefaultID(k.Kind, argv)
	}
	if !utf8.ValidString(f.ID) {
		return console.Usagef("--id %q is not valid UTF-8", f.ID)
	}
	if err := p.settings.Complete(p.LookupEnv); err != nil {
		return console.Usagef("%v", err)
	}
	if p.settings.ReadOnly {
		return console.Usagef("curator %s writes to the ensemble, and --read-only is set", k.Name)
	}
	servers := p.settings.Ensemble().Servers
	switch {
	case !f.embedded:
	case len(servers) != 1 || !settings.IsLoopback(servers[0]):
		return console.Usagef("--embedded needs one loopback address as the ensemble, such as %s, not %q", settings.DefaultConnect, p.settings.Connect)
	case p.settings.TLS:
		return console.Usagef("--embedded and TLS cannot be used together: the embedded server has no TLS")
	}
	return nil
}

// splitRunArgs returns PATH, and CMD with its arguments. dash is the index of the argument after --,
// -1 without a --.
func (p *program) splitRunArgs(name string, set *pflag.FlagSet, args []string, dash int) (path string, argv []string, err error) {
	switch {
	case dash < 0:
		return "", nil, console.Usagef("%s", noDash(name, set, p.Args))
	case dash == 0:
		return "", nil, console.Usagef("no PATH before the --: curator %s PATH -- %s", name, quote(args))
	case dash > 1:
		return "", nil, console.Usagef("there must be only one PATH before the --, not %s", quote(args[:dash]))
	case dash == len(args):
		return "", nil, console.Usagef("no command after the --: curator %s %s -- CMD", name, quote(args))
	}
	return args[0], args[1:], nil
}

// noDash returns a message with what a command line without -- should be.
func noDash(name string, set *pflag.FlagSet, args []string) string {
	command := slices.Index(args, name)
	args = slices.Delete(slices.Clone(args), command, command+1)
	var ours []string
	path := false
	for i := 0; i < len(args); i++ {
		n := flagLen(set, args[i])
		if n == 0 && path {
			return "there must be a -- before the command: curator " + name + " " + quote(ours) + " -- " + quote(args[i:])
		}
		path = path || n == 0
		n = min(max(n, 1), len(args)-i)
		ours = append(ours, args[i:i+n]...)
		i += n - 1
	}
	if !path {
		ours = append(ours, "PATH")
	}
	return "there must be a -- and a command: curator " + name + " " + quote(ours) + " -- CMD"
}

// flagLen returns the number of arguments that the flag arg takes, itself included, 0 if arg is not
// a flag of set.
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

// quote returns arguments as a command line of a shell.
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

const lockHelp = `Takes the lock at PATH, runs CMD, and releases the lock when CMD has ended. The
lock is an InterProcessMutex of Apache Curator: it also excludes programs that
use an InterProcessMutex at the same path.
` + runHelp

const rlockHelp = `Takes the read lock at PATH, runs CMD, and releases the lock when CMD has ended.
Several processes can hold the read lock at the same time, but only while nobody
holds the write lock (curator wlock). The two locks are an
InterProcessReadWriteLock of Apache Curator. A reader waits for the writers that
came before it.
` + runHelp

const wlockHelp = `Takes the write lock at PATH, runs CMD, and releases the lock when CMD has
ended. While one process holds it, no other holds the write lock or the read
lock (curator rlock). The two locks are an InterProcessReadWriteLock of Apache
Curator.
` + runHelp

const semaphoreHelp = `Takes one of the leases of the semaphore at PATH, runs CMD, and returns the
lease when CMD has ended. -n is the number of leases. All users of a semaphore
must give the same number; nothing checks that. The semaphore is an
InterProcessSemaphoreV2 of Apache Curator.
` + runHelp

const electHelp = `Takes part in the election at PATH, runs CMD when elected, and gives the
leadership up when CMD has ended. If the leadership is lost first, CMD is ended.
To take part again, run the command again. The other participants use
LeaderSelector of Apache Curator or this command; --id is the id that they see.
` + runHelp

const runHelp = `
The environment of CMD has
  CURATOR_LOCK_PATH      PATH
  CURATOR_FENCING_TOKEN  a number that is higher with every grant of the lock
  CURATOR_LOCKS_HELD     the locks that are held around CMD, so that a curator
                         inside CMD does not wait for one of them

By default everyone can read the lock's node. It has the name of CMD without
its arguments, the name of this host and the id of this process. Others see
these while they wait for the lock.

No lock can prevent the following: if this process is stopped (by kill -STOP, or
because the machine sleeps), or if CMD cannot be killed, CMD may still run after
somebody else got the lock. If that matters, let CMD send CURATOR_FENCING_TOKEN
with each request, and let the receiver refuse a token that is lower than one
that it has seen.

The lock can be lost while CMD runs: the session expires, no server can be
reached for too long, or the lock's node is deleted. Then CMD's whole process
group gets SIGTERM, and SIGKILL after --grace. If no server can be reached,
SIGKILL comes earlier where needed, before anybody else can get the lock. If
this process itself ends by kill -9, the group gets SIGKILL at once.

The lock is held until CMD's whole process group has ended, processes in the
background included. A process that may run longer must leave the group, for
example by setsid(1). If a signal ended CMD itself, the rest of its group is
ended as well. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH,
SIGTSTP and SIGCONT are passed on to the group. Before CMD runs, each of the
first four ends the wait for the lock.

During the wait, a line on the terminal shows who holds the lock, our place in
the queue, and how long we have waited. Without a terminal this is logged after
some seconds, and again each time the wait has become twice as long.

On a terminal CMD runs in the foreground. Ctrl-Z stops both CMD and this
process. If they stay stopped, the lock is lost after --session-timeout, and CMD
is ended when the job is continued. If a signal ends CMD, curator restores the
settings of the terminal.
` + exitHelp

const exitHelp = `
Exit statuses
  0    done
  1    no: there is no such node, holder, token or version, the node exists
       already, the ensemble is not healthy, or the user did not confirm
  64   usage: something is wrong with the command line, the environment or a
       file that they name
  69   the ensemble cannot be reached or did not answer, or curator cannot
       listen at an address
  70   internal error
  74   the output cannot be written, for example because the disk is full
  75   not acquired: others hold the lock (-E sets another status)
  76   the lock was lost while CMD ran, whatever CMD exited with
  77   not permitted
  124  CMD was ended because of --max-hold
  126  CMD cannot be run
  127  CMD was not found
  128+n  the signal n ended curator or CMD
  any other status is that of CMD`

const lockExample = `  curator lock /locks/backup -- pg_dump -f /backup/db.sql db
  curator lock --try -E 0 /locks/nightly -- ./nightly.sh
  curator lock --timeout 30s --connect zk1,zk2,zk3 /locks/deploy -- make deploy
  curator lock --embedded /locks/build -- make   # only for this machine`

const rlockExample = `  curator rlock /locks/catalog -- ./report.sh`

const wlockExample = `  curator wlock --timeout 1m /locks/catalog -- ./import.sh`

const semaphoreExample = `  curator semaphore -n 3 /limits/transcode -- ffmpeg -i in.mov out.mp4`

const electExample = `  curator elect /leaders/scheduler -- ./scheduler
  curator elect --id web-7 /leaders/scheduler -- ./scheduler`
