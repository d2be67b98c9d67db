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
	"slices"
	"strings"
)

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
