// Curatorvet finds mistakes in programs that use Curator for Go, which the compiler and other
// tools do not find: for example a lease that is not kept, a builder that sends nothing, or work under
// a lock that does not notice the loss of the lock. Package checks lists them.
//
//	go install github.com/go-curator/curator/tools/curatorvet@latest
//	go vet -vettool=$(which curatorvet) ./...
//
// Called with packages it starts go vet with itself as the tool:
//
//	curatorvet ./...
//
// Flags are passed on to go vet. -NAME runs only the check NAME, and -NAME=false leaves it out.
// "curatorvet help" lists the checks, and "curatorvet help NAME" describes one. The exit status
// is that of go vet: 0 if there are no findings.
//
// docs/curatorvet.md of the library shows each mistake and its correction.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/go-curator/curator/tools/curatorvet/checks"
)

func main() {
	args := os.Args[1:]
	if calledByGoVet(args) || len(args) > 0 && args[0] == "help" {
		unitchecker.Main(checks.All()...)
	}
	os.Exit(goVet(args))
}

// calledByGoVet reports whether the arguments are those of go vet's calls of its tools: a question
// about the tool, or the name of a file that describes a package.
func calledByGoVet(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "-flags" || strings.HasPrefix(arg, "-V") || strings.HasSuffix(arg, ".cfg")
	})
}

// goVet starts go vet with this program as its tool, and returns the exit status.
func goVet(args []string) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "curatorvet:", err)
		return 2
	}
	vet := exec.CommandContext(context.Background(), "go", append([]string{"vet", "-vettool=" + self}, args...)...)
	vet.Stdout, vet.Stderr = os.Stdout, os.Stderr
	err = vet.Run()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return failed.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "curatorvet:", err)
		return 2
	}
	return 0
}
