// Package peers has the programs that the benchmark compares Curator for Go with, each the
// lock of another client or service: Java Curator, kazoo for Python, etcd's concurrency
// package, and tables of PostgreSQL. How they are spoken with is in
// tools/bench/internal/protocol.
//
// Each function makes a program ready to be started: it compiles it, into a directory that
// the caller removes when the program has ended. The last argument is the address of the
// service. What this machine does not have is an [installed.AbsentError].
//
// The programs in Go are modules of their own, so that what they depend on is nothing to
// users of this one. They are built from the sources of this module, in whose directory,
// or one below, the functions have to be called.
package peers

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-curator/curator/tools/bench/internal/installed"
)

//go:embed java/*.java
var javaSources embed.FS

//go:embed kazoo/peer.py
var kazooSource []byte

const (
	installJava = "Debian, Ubuntu: apt-get install default-jdk-headless libcurator-client-java " +
		"libcurator-framework-java libcurator-recipes-java libcurator-discovery-java"
	installKazoo = "Debian, Ubuntu: apt-get install python3-kazoo"
	installGo    = "see go.dev/dl"
)

// jars are Curator's recipes and its service discovery, whose own class paths in Debian's packages
// name what they need, and a logger.
var jars = []string{"/usr/share/java/curator-recipes.jar", "/usr/share/java/curator-x-discovery.jar", "/usr/share/java/slf4j-simple.jar"}

// javaFlags let the JVM compile all that it can, as a program's in production does.
var javaFlags = []string{"-Xshare:auto", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"}

// Java is the peer for Java Curator. The address is a connect string.
func Java(ctx context.Context, dir, address string) (*exec.Cmd, error) {
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
			return nil, &installed.AbsentError{Name: "Java Curator", Install: installJava, Err: err}
		}
	}
	if err := os.CopyFS(dir, javaSources); err != nil {
		return nil, err
	}
	classPath := strings.Join(jars, string(os.PathListSeparator))
	source := filepath.Join(dir, "java")
	if _, err := run(exec.CommandContext(ctx, javac, "-proc:none", "-cp", classPath, "-sourcepath", source, "-d", dir, filepath.Join(source, "BenchPeer.java"))); err != nil {
		return nil, err
	}
	args := append([]string{}, javaFlags...)
	args = append(args, "-cp", dir+string(os.PathListSeparator)+classPath, "BenchPeer", address)
	return exec.Command(java, args...), nil
}

// javaTool returns a tool of JAVA_HOME, or the one in PATH.
func javaTool(name string) (string, error) {
	var directories []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		directories = append(directories, filepath.Join(home, "bin"))
	}
	return installed.Program(name, installJava, directories...)
}

// pythons are where kazoo is looked for: the Python in PATH may be another one than that of
// the system, which its packages are for.
var pythons = []string{"python3", "/usr/bin/python3"}

// Kazoo is the peer for kazoo. The address is a connect string.
func Kazoo(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	absent := &installed.AbsentError{Name: "a Python with kazoo", Install: installKazoo}
	for _, python := range pythons {
		if _, absent.Err = run(exec.CommandContext(ctx, python, "-c", "import kazoo.client")); absent.Err != nil {
			continue
		}
		source := filepath.Join(dir, "peer.py")
		if err := os.WriteFile(source, kazooSource, 0o600); err != nil {
			return nil, err
		}
		return exec.Command(python, source, address), nil
	}
	return nil, absent
}

// Etcd is the peer for etcd's concurrency package. The address is a host and a port.
func Etcd(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	program, err := build(ctx, dir, "etcd")
	if err != nil {
		return nil, err
	}
	return exec.Command(program, address), nil
}

// SQLInsert is the peer for a table of PostgreSQL into which a lock's holder inserts a row.
// The address is a host and a port.
func SQLInsert(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	return sql(ctx, dir, "insert", address)
}

// SQLUpdate is the peer for a table of PostgreSQL of which a lock's holder has a row
// selected for update. The address is a host and a port.
func SQLUpdate(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	return sql(ctx, dir, "update", address)
}

func sql(ctx context.Context, dir, kind, address string) (*exec.Cmd, error) {
	program, err := build(ctx, dir, "sql")
	if err != nil {
		return nil, err
	}
	return exec.Command(program, kind, address), nil
}

// build builds one of the programs in Go, into dir. That the modules which it needs can be
// neither found nor downloaded means that they are absent.
func build(ctx context.Context, dir, name string) (string, error) {
	compiler, err := installed.Program("go", installGo)
	if err != nil {
		return "", err
	}
	out, err := run(exec.CommandContext(ctx, compiler, "list", "-f", "{{.Dir}}", "github.com/go-curator/curator/tools/bench/peers"))
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(out), name)
	if _, err := run(exec.CommandContext(ctx, compiler, "-C", source, "list", "-deps", ".")); err != nil {
		return "", &installed.AbsentError{
			Name:    "what the benchmark's peer " + name + " imports",
			Install: "go -C " + source + " mod download", Err: err,
		}
	}
	program := filepath.Join(dir, name)
	_, err = run(exec.CommandContext(ctx, compiler, "-C", source, "build", "-buildvcs=false", "-o", program, "."))
	return program, err
}

// run runs a command and returns its output. What it says on its standard error is in the
// error.
func run(cmd *exec.Cmd) (string, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, stderr.String())
	}
	return string(out), nil
}
