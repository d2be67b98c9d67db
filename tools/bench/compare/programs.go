package main

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/go-curator/curator/tools/bench/internal/installed"
)

// module is the path of this module.
const module = "github.com/go-curator/curator/tools/bench/compare"

//go:embed kazoo/peer.py
var kazooSource []byte

const (
	installKazoo = "Debian, Ubuntu: apt-get install python3-kazoo"
	installGo    = "see go.dev/dl"
)

// pythons are the Pythons in which kazoo is searched. The Python in PATH may not be that of the system,
// for which the system's packages are installed.
var pythons = []string{"python3", "/usr/bin/python3"}

// kazoo is the program of the peer for kazoo. The address is a connect string.
func kazoo(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	absent := &installed.AbsentError{Name: "a Python with kazoo", Install: installKazoo}
	for _, python := range pythons {
		if _, absent.Err = installed.Output(exec.CommandContext(ctx, python, "-c", "import kazoo.client")); absent.Err != nil {
			continue
		}
		source := filepath.Join(dir, "peer.py")
		if err := os.WriteFile(source, kazooSource, 0o600); err != nil {
			return nil, err
		}
		return exec.CommandContext(context.WithoutCancel(ctx), python, source, address), nil // ctx bounds only the start
	}
	return nil, absent
}

// etcd is the program of the peer for etcd's concurrency package. The address is a host and a port.
func etcd(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	return build(ctx, dir, "etcd", address)
}

// sqlInsert is the program of the peer for a table of PostgreSQL into which a lock's holder inserts a
// row. The address is a host and a port.
func sqlInsert(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	return build(ctx, dir, "sql", "insert", address)
}

// sqlUpdate is the program of the peer for a table of PostgreSQL. A lock's holder selects a row of the
// table for update. The address is a host and a port.
func sqlUpdate(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	return build(ctx, dir, "sql", "update", address)
}

// build builds a program of this module into dir, and returns its command. If a module that the
// program needs can be neither found nor downloaded, the error is an [*installed.AbsentError].
func build(ctx context.Context, dir, name string, args ...string) (*exec.Cmd, error) {
	compiler, err := installed.Program("go", installGo)
	if err != nil {
		return nil, err
	}
	source := module + "/" + name
	if _, err := installed.Output(exec.CommandContext(ctx, compiler, "list", "-deps", source)); err != nil {
		return nil, &installed.AbsentError{
			Name:    "a module that the benchmark's peer " + name + " imports",
			Install: "in tools/bench/compare: go mod download", Err: err,
		}
	}
	program := filepath.Join(dir, name)
	if _, err := installed.Output(exec.CommandContext(ctx, compiler, "build", "-buildvcs=false", "-o", program, source)); err != nil {
		return nil, err
	}
	return exec.CommandContext(context.WithoutCancel(ctx), program, args...), nil // ctx bounds only the start
}
