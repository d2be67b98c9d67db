// Verify runs the proofs that the recipes keep their promises, each a subcommand:
//
//	go run ./tools/verify explore    # every state of a model of the algorithms, with mistakes and without
//	go run ./tools/verify chaos      # the recipes on a real ensemble, under random faults
//	go run ./tools/verify mutants    # mistakes in the code, which the tests must notice
//	go run ./tools/verify ensemble   # two clients and one lock while a real ensemble breaks, in many ways
//	go run ./tools/verify matrix     # the tests with real servers, on several releases of ZooKeeper
//	go run ./tools/verify load       # the load of idle clients that hold locks on their servers
//	go run ./tools/verify rolling    # a rolling upgrade of a real ensemble, and back, under the load of all recipes
//
// With -h a subcommand explains itself and its flags. The packages below internal/verify do the work, and
// say what it proves; docs/robustness.md, docs/lock-model.md and docs/mutants.md say what was found.
//
// # Exit status
//
// It is 0 if what was run shows what it is to show, 1 if it does not or could not be run, and 2 for help
// and for a subcommand that there is not. An interrupt ends the run early, and what is already known is
// printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/go-curator/curator/internal/verify/chaos"
)

func subcommands() []subcommand {
	return []subcommand{exploring(), attacking(), mutating(), breaking(), crossing(), measuring(), upgrading()}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	was, err := chaos.Work(context.WithoutCancel(ctx)) // this process may be a worker of a run of chaos
	if !was {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(1)
	}
}

// run runs the subcommand that args begin with.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	all := subcommands()
	i := slices.IndexFunc(all, func(s subcommand) bool { return len(args) > 0 && args[0] == s.name })
	if i < 0 {
		_, _ = io.WriteString(progress, usage(all))
		return flag.ErrHelp
	}
	return all[i].run(ctx, args[1:], out, progress)
}

// usage lists the subcommands.
func usage(all []subcommand) string {
	text := "usage: verify SUBCOMMAND [flags]\n\n"
	for _, s := range all {
		text += fmt.Sprintf("  %-10s%s\n", s.name, s.short)
	}
	return text
}
