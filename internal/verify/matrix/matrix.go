// Package matrix runs the tests against real servers on several releases of ZooKeeper, and on the embedded server
// as ClickHouse Keeper, and compares what fails there with a table. On an old release, and on a Keeper, some cases must
// fail, because the server does not have what they test. The table, expected.txt, names each of them with the error that
// it must get. Any other failure is one of the release, and so is a case of the table that passes, and a test that is
// skipped; on a Keeper those are skipped that need a real server. In a package with a case of the table nobody looks for
// goroutines that are left, because its tests have failed already.
package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/suite"
)

// Packages are those with suites that run on real servers, and this one, whose tests are of servers alone.
func Packages() []string {
	return []string{"./framework/...", "./recipes/...", "./internal/interop", "./internal/verify/matrix", "./tools/curatortest"}
}

// Keeper is what the table calls the embedded server as ClickHouse Keeper, which is tested in virtual time alone.
const Keeper = "keeper"

// KeeperPackages are those whose suites run on it.
func KeeperPackages() []string {
	return []string{"./framework", "./recipes/cache", "./recipes/leader", "./recipes/locks"}
}

// Release is a release of ZooKeeper on this machine, or Keeper.
type Release struct {
	Version string // such as 3.9.5
	Home    string // for ZOOKEEPER_HOME
}

// environment is what has the tests run on the release.
func (r Release) environment() []string {
	if r.Version == Keeper {
		return []string{suite.AsKeeper + "=1", "JAVA_HOME=/nonexistent", "CI="} // no real servers
	}
	return []string{"ZOOKEEPER_HOME=" + r.Home, suite.OnlyReal + "=1", "CI=true"}
}

var serverJar = regexp.MustCompile(`^zookeeper-(\d+\.\d+\.\d+)\.jar$`)

// At returns the release that is unpacked in a directory.
func At(home string) (Release, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return Release{}, err
	}
	jars, err := filepath.Glob(filepath.Join(home, "lib", "zookeeper-*.jar"))
	if err != nil {
		return Release{}, err
	}
	for _, jar := range jars {
		if found := serverJar.FindStringSubmatch(filepath.Base(jar)); found != nil {
			return Release{Version: found[1], Home: home}, nil
		}
	}
	return Release{}, fmt.Errorf("%s has no lib/zookeeper-VERSION.jar; make servers fetches releases", home)
}

// Case is a test, or a subtest.
type Case struct {
	Package string // its directory, such as recipes/locks
	Test    string // its name, such as TestTTL/real
}

// String returns both.
func (c Case) String() string { return c.Package + " " + c.Test }

// Result is how a case ended.
type Result struct {
	Action string // pass, fail or skip
	Output string
}

// Results are those of one release.
type Results struct {
	Cases      map[Case]Result
	Packages   map[string]Result
	Unfinished map[Case]bool // cases that have begun and have no result
	Took       time.Duration
}

// Run runs the tests of packages on a release, from the directory of the module. Tests that fail are no
// error of Run.
func Run(ctx context.Context, root string, r Release, packages []string, progress io.Writer) (Results, error) {
	begin := time.Now()
	args := []string{"test", "-json", "-count=1", "-vet=off", "-timeout=20m"}
	if r.Version == Keeper {
		args = append(args, "-short")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), r.environment()...)
	cmd.Stderr = progress
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that tests stop their servers
	cmd.WaitDelay = 30 * time.Second
	events, err := cmd.StdoutPipe()
	if err != nil {
		return Results{}, err
	}
	if err := cmd.Start(); err != nil {
		return Results{}, err
	}
	results, broken := read(events)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		err = nil // the results say why
	}
	results.Took = time.Since(begin)
	return results, errors.Join(broken, err, ctx.Err())
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// read reads the output of go test -json to its end.
func read(from io.Reader) (Results, error) {
	r := Results{Cases: map[Case]Result{}, Packages: map[string]Result{}, Unfinished: map[Case]bool{}}
	output := map[Case]*strings.Builder{}
	decoder := json.NewDecoder(from)
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return r, nil
		} else if err != nil {
			_, _ = io.Copy(io.Discard, from) // or go test waits for ever
			return r, fmt.Errorf("the output of go test -json: %w", err)
		}
		c := Case{directory(e.Package), e.Test}
		switch e.Action {
		case "run":
			r.Unfinished[c] = true
		case "output", "build-output":
			if e.Package == "" { // what the compiler says
				c.Package = directory(e.ImportPath)
			}
			if output[c] == nil {
				output[c] = new(strings.Builder)
			}
			output[c].WriteString(e.Output)
		case "pass", "fail", "skip":
			result := Result{Action: e.Action}
			if text := output[c]; text != nil {
				result.Output = text.String()
			}
			if e.Test == "" {
				r.Packages[c.Package] = result
			} else {
				r.Cases[c] = result
				delete(r.Unfinished, c)
			}
		}
	}
}

// directory returns the directory of a package of this module. A test's package may have its own name behind
// a blank.
func directory(importPath string) string {
	importPath, _, _ = strings.Cut(importPath, " ")
	return strings.TrimPrefix(importPath, "github.com/go-curator/curator/")
}
