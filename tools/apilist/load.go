package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

// listed is a package in the output of go list.
type listed struct {
	ImportPath string `json:"ImportPath"`
	Export     string `json:"Export"` // the file with the compiler's export data
	DepOnly    bool   `json:"DepOnly"`
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
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,DepOnly"}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var public []string
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && !strings.Contains(p.ImportPath+"/", "/internal/") {
			public = append(public, p.ImportPath)
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
