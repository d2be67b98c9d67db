// Compare is the benchmark of tools/bench with more peers: the locks of kazoo, the client for Python,
// etcd's concurrency package, and tables of PostgreSQL. It has the same flags, and -plots.
//
//	go -C tools/bench/compare run . -json $PWD/results.json -plots $PWD/plots
//
// It is a separate module, so that the library does not get the dependencies of these peers and of the
// plots. The peers in Go and the plots are separate programs, so that the process that measures the
// clients in Go is the same as without them. They are built when they are needed, from the module of
// the working directory, which must be this one.
package main

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/go-curator/curator/tools/bench/compare/internal/service"
	"github.com/go-curator/curator/tools/bench/internal/bench"
	"github.com/go-curator/curator/tools/bench/internal/installed"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

func main() { command().Main() }

// command returns the command with the peers in the order of the report.
func command() bench.Command {
	return bench.Command{
		Peers: []bench.PeerKind{
			bench.OnZooKeeper("kazoo", false, kazoo),
			bench.OnService("etcd", service.Etcd, etcd),
			bench.OnService("sql-insert", service.PostgreSQL, sqlInsert),
			bench.OnService("sql-update", service.PostgreSQL, sqlUpdate),
		},
		Draw: drawPlots,
	}
}

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

// drawPlots runs the program in directory plot, which draws the results into a directory.
func drawPlots(ctx context.Context, figures *results.File, directory string) (err error) {
	dir, err := os.MkdirTemp("", "bench-plots-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "results.json")
	if err := figures.Write(path); err != nil {
		return err
	}
	_, err = installed.Output(exec.CommandContext(ctx, "go", "run", module+"/plot", directory, path))
	return err
}
