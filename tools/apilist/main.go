// Apilist writes the exported API of the module, one line for each name. So a change of the
// public API is a change of docs/api.txt, which a review sees.
//
//	go run ./tools/apilist docs/api.txt
//
// make api calls it, and a test compares the file with the code. The lines have types but no
// names of parameters, because names may change freely. Packages below internal, and commands,
// are not in the file.
//
// apidiff, which make apidiff runs, compares two versions and writes no list, so a diff of a change does not show
// what it says. go doc -all has the comments and the names of parameters.
package main

import (
	"context"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

// patterns are the packages that other modules may import.
var patterns = []string{
	"./framework/...", "./recipes/...", "./retry/...", "./state/...", "./tracing/...", "./tools/curatortest",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: apilist FILE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	text, err := list(ctx, ".", patterns)
	stop()
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "apilist:", err)
		os.Exit(1)
	}
}

// list returns the lines of the packages that match patterns, in the module of the directory dir.
func list(ctx context.Context, dir string, patterns []string) (string, error) {
	packages, err := load(ctx, dir, patterns)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, p := range packages {
		lines = append(lines, describe(p)...)
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n", nil
}

// load returns the public packages that match patterns. It compiles them, and reads the compiler's
// export data.
func load(ctx context.Context, dir string, patterns []string) ([]*types.Package, error) {
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.DepOnly}}"}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{} // the files with the compiler's export data
	var public []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		path, isDependency := fields[0], fields[2] == "true"
		exports[path] = fields[1]
		if !isDependency && !strings.Contains(path+"/", "/internal/") {
			public = append(public, path)
		}
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	var packages []*types.Package
	for _, path := range public {
		p, err := from.Import(path)
		if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}
