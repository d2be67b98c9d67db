package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const ours = "github.com/go-curator/curator"

// use is a part of the repository whose dependencies are listed.
type use struct {
	name     string // the name on the page
	dir      string
	patterns []string
	tests    bool
}

// library has the packages that become part of users' programs.
var library = []string{"./framework/...", "./recipes/...", "./retry/...", "./state/...", "./tracing/..."}

// Names of the parts that users get.
const (
	libraryName = "the library"
	commandName = "`curator`"
)

// uses returns the parts: the library, the command, the rest with all tests, and each nested module.
func uses(root string) ([]use, error) {
	all := []use{
		{libraryName, ".", library, false},
		{commandName, ".", []string{"./tools/curator"}, false},
		{"tests and tools", ".", []string{"./..."}, true},
	}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != "."):
			return fs.SkipDir
		case entry.Name() == "go.mod" && path != "go.mod":
			dir := filepath.ToSlash(filepath.Dir(path))
			all = append(all, use{"`" + dir + "`", dir, []string{"./..."}, true})
		}
		return nil
	})
	return all, err
}

// dependency is a module that is used.
type dependency struct {
	path, dir string
	usedBy    []string
}

// collect returns the modules that the parts are built from, ordered by path. A module of the library
// is not listed for other parts, and a module of the command not for tests.
func collect(ctx context.Context, root string) ([]dependency, error) {
	parts, err := uses(root)
	if err != nil {
		return nil, err
	}
	byPath := map[string]*dependency{}
	for i, part := range parts {
		modules, err := modulesOf(ctx, root, part)
		if err != nil {
			return nil, err
		}
		for path, dir := range modules {
			d := byPath[path]
			if d == nil {
				d = &dependency{path: path, dir: dir}
				byPath[path] = d
			}
			first := len(d.usedBy) > 0 && slices.ContainsFunc(parts[:min(i, 3)], func(p use) bool { return p.name == d.usedBy[0] })
			if !first {
				d.usedBy = append(d.usedBy, part.name)
			}
		}
	}
	var all []dependency
	for _, d := range byPath {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b dependency) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// modulesOf returns the directories of the modules that a part is built from, by the modules' paths. Modules of
// this repository are not among them.
func modulesOf(ctx context.Context, root string, part use) (map[string]string, error) {
	modules := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		if part.tests && system != "linux" {
			break
		}
		args := []string{"list", "-deps", "-test=" + strconv.FormatBool(part.tests), "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}"}
		cmd := exec.CommandContext(ctx, "go", append(args, part.patterns...)...)
		cmd.Dir, cmd.Stderr = filepath.Join(root, part.dir), os.Stderr
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", part.dir, err)
		}
		for line := range strings.Lines(string(out)) {
			path, dir, isModule := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if isModule && path != ours && !strings.HasPrefix(path, ours+"/") {
				modules[path] = dir
			}
		}
	}
	return modules, nil
}
