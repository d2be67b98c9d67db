// Package wallclock steps the wall clocks of single processes, which the system has only one of: a
// shared object that a process loads by LD_PRELOAD adds an offset to what the C library says the time
// is. So it reaches a JVM and Python, and no program in Go, which asks the kernel itself. Monotonic
// clocks stay as they are.
//
// It needs Linux and a C compiler. The files: wallclock.go, and preload/wallclock.c.
package wallclock

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

//go:embed preload/wallclock.c
var source []byte

// ErrNotInstalled is matched by the error about a machine on which no clock can be stepped.
var ErrNotInstalled = errors.New("not installed")

// Library is the shared object.
type Library struct{ dir, object string }

// Build compiles the shared object into dir. The error matches ErrNotInstalled if the system is not
// Linux, or has no C compiler.
func Build(ctx context.Context, dir string) (*Library, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("LD_PRELOAD of Linux is %w on %s", ErrNotInstalled, runtime.GOOS)
	}
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return nil, fmt.Errorf("a C compiler is %w: %w", ErrNotInstalled, err)
	}
	l := &Library{dir, filepath.Join(dir, "wallclock.so")}
	file := filepath.Join(dir, "wallclock.c")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return nil, err
	}
	compile := exec.CommandContext(ctx, compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", l.object, file, "-ldl")
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", compile, err, out)
	}
	return l, nil
}

// Clock is the wall clock of the processes that have its environment.
type Clock struct{ library, file string }

// Clock returns a clock that is right. Its name is that of a file.
func (l *Library) Clock(name string) (*Clock, error) {
	c := &Clock{l.object, filepath.Join(l.dir, name+".clock")}
	return c, os.WriteFile(c.file, make([]byte, 8), 0o600)
}

// Environment returns what a process needs in its environment that is to have this clock.
func (c *Clock) Environment() []string {
	return []string{"LD_PRELOAD=" + c.library, "CURATOR_CHAOS_CLOCK=" + c.file}
}

// Set has the clock be ahead of that of the system from now on; a negative offset has it be behind.
func (c *Clock) Set(offset time.Duration) error {
	file, err := os.OpenFile(c.file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(offset)), 0)
	return errors.Join(err, file.Close())
}
