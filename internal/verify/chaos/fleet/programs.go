package fleet

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-curator/curator/internal/verify/chaos/worker"
)

//go:embed java/*.java
var javaSources embed.FS

//go:embed kazoo/worker.py
var kazooSource []byte

// ErrNotInstalled is matched by the errors about what this machine does not have.
var ErrNotInstalled = errors.New("not installed")

// Program makes the command that runs a worker.
type Program func(s worker.Settings) (*exec.Cmd, error)

// Go returns the program of workers in Go: binary, or without one that of this process, with
// more variables in its environment. It must call Run of package worker if it is told to.
func Go(binary string, env []string) (Program, error) {
	if binary == "" {
		var err error
		if binary, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	return func(s worker.Settings) (*exec.Cmd, error) {
		variable, err := s.Environment()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(binary)
		cmd.Env = append(append(os.Environ(), env...), variable)
		return cmd, nil
	}, nil
}

// With returns the program with more variables in its environment.
func With(program Program, env []string) Program {
	return func(s worker.Settings) (*exec.Cmd, error) {
		cmd, err := program(s)
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Environ(), env...)
		return cmd, nil
	}
}

// Build builds the command of package tools/verify with flags of go build, into dir, and returns the
// binary. It has to be called from a directory of this module.
func Build(ctx context.Context, dir string, flags []string) (binary string, err error) {
	binary = filepath.Join(dir, "verify")
	args := append([]string{"build", "-buildvcs=false", "-o", binary}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "github.com/go-curator/curator/tools/verify")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return binary, nil
}

// arguments are those of the programs that are not in Go.
func arguments(s worker.Settings) []string {
	return []string{s.Name, s.Connect, s.Root, fmt.Sprint(s.Session.Milliseconds()), fmt.Sprint(s.Seed % 1e9), fmt.Sprint(s.Pause.Milliseconds())}
}

// jars are Curator's recipes, whose own class path in Debian's package names what they need, and
// a logger.
var jars = []string{"/usr/share/java/curator-recipes.jar", "/usr/share/java/slf4j-simple.jar"}

// Java compiles the worker with Java Curator into dir, and returns its program. The error matches
// ErrNotInstalled if the machine does not have what it takes.
func Java(ctx context.Context, dir string) (Program, error) {
	java, err := javaTool("java")
	if err != nil {
		return nil, err
	}
	javac, err := javaTool("javac")
	if err != nil {
		return nil, err
	}
	for _, jar := range jars {
		if _, err := os.Stat(jar); err != nil {
			return nil, fmt.Errorf("Java Curator is %w: %w", ErrNotInstalled, err)
		}
	}
	if err := os.CopyFS(dir, javaSources); err != nil {
		return nil, err
	}
	classPath := strings.Join(append([]string{dir}, jars...), string(os.PathListSeparator))
	// A compiler that starts fast is done in half the time.
	compile := exec.CommandContext(ctx, javac, "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none", "-cp", classPath, "-d", dir, filepath.Join(dir, "java", "ChaosWorker.java"))
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile the worker in Java: %w\n%s", err, out)
	}
	return func(s worker.Settings) (*exec.Cmd, error) {
		args := []string{
			"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx128m",
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", classPath, "ChaosWorker",
		}
		return exec.Command(java, append(args, arguments(s)...)...), nil
	}, nil
}

// javaTool returns a tool of JAVA_HOME, or the one in the path.
func javaTool(name string) (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		name = filepath.Join(home, "bin", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("a JDK is %w: %w", ErrNotInstalled, err)
	}
	return path, nil
}

// Kazoo returns the program of the worker with kazoo, which it writes into dir. The error matches
// ErrNotInstalled if no Python has kazoo: the one in the path may be another than that of the
// system, which its packages are for.
func Kazoo(ctx context.Context, dir string) (Program, error) {
	source := filepath.Join(dir, "worker.py")
	if err := os.WriteFile(source, kazooSource, 0o600); err != nil {
		return nil, err
	}
	var reason error
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if reason = exec.CommandContext(ctx, python, "-c", "import kazoo.client").Run(); reason == nil {
			return func(s worker.Settings) (*exec.Cmd, error) {
				return exec.Command(python, append([]string{source}, arguments(s)...)...), nil
			}, nil
		}
	}
	return nil, fmt.Errorf("a Python with kazoo is %w: %w", ErrNotInstalled, reason)
}
