//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// tool is the path of the binary, which most tests run as a process.
var tool string

// TestMain lets more tests run at once than there are processors, unless the command line says
// otherwise: most of the time they wait for processes.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "curator-")
	if err == nil {
		tool = filepath.Join(dir, "curator")
		err = buildTool()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
	suite.Main(m, func() error { return os.RemoveAll(dir) })
}

func buildTool() error {
	args := []string{"build", "-o", tool}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")                                                     // as the tests were built
		os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")) // otherwise each process sleeps for a second at its end
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}
