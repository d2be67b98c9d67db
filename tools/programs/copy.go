package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	curator = "github.com/go-curator/curator"
	shimDir = "framework/zk"
)

//go:embed testdata
var testFiles embed.FS

// copied is a copy of a program that can be changed.
type copied struct {
	dir   string
	lines changed
}

// changed counts changed lines of Go files.
type changed struct{ code, tests, files int }

func (c changed) String() string { return fmt.Sprintf("%d (+%d in tests)", c.code, c.tests) }

func (c *changed) add(file string, lines int) {
	if strings.HasSuffix(file, "_test.go") {
		c.tests += lines
	} else {
		c.code += lines
	}
}

// goTimeout bounds a go command that downloads or edits; those that build have more.
const goTimeout = 15 * time.Minute

// golang returns a go command in dir, with the environment of this process but for what would tie it to a
// module or a work space of its own. With -trimpath what was built for one copy is of use for the next one.
func golang(ctx context.Context, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false -trimpath")
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// output runs a go command and returns what it prints.
func output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, goTimeout, fmt.Errorf("go %s takes longer than %v", args[0], goTimeout))
	defer cancel()
	out, err := golang(ctx, dir, nil, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}

// workTree returns the folder of the module that the command runs in, which is this one.
func workTree(ctx context.Context) (string, error) {
	out, err := output(ctx, "", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	if err != nil {
		return "", err
	}
	name, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if name != curator {
		return "", fmt.Errorf("run it in the work tree of %s, not of %s", curator, name)
	}
	return dir, nil
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil
}

// download returns the program's folder in the module cache.
func (p program) download(ctx context.Context) (string, error) {
	// The module of the work tree must not change: a module's name with a version needs none.
	out, err := output(ctx, os.TempDir(), "mod", "download", "-json", p.module+"@"+p.version)
	var found struct{ Dir, Error string }
	if decodeErr := json.Unmarshal(out, &found); decodeErr == nil && found.Error != "" {
		return "", fmt.Errorf("not available: %s", found.Error)
	}
	if err != nil {
		return "", fmt.Errorf("not available: %w", err)
	}
	return found.Dir, nil
}

// copy copies a program into a new folder, and has it use a driver.
func (p program) copy(ctx context.Context, source, root string, d driver) (c *copied, err error) {
	dir, err := os.MkdirTemp("", "programs-"+p.name+"-")
	if err != nil {
		return nil, err
	}
	c = &copied{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.remove())
		}
	}()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		return c, err
	}
	if err := c.dropLocalReplacements(ctx); err != nil {
		return c, err
	}
	if d == original {
		return c, nil
	}
	if c.lines, err = changeImports(dir, p.driver, shim); err != nil {
		return c, err
	}
	if c.lines.code == 0 {
		return c, fmt.Errorf("no file imports %s", p.driver)
	}
	for _, e := range p.edits {
		if err := c.apply(e); err != nil {
			return c, err
		}
	}
	return c, c.requireCurator(ctx, root)
}

// apply makes an edit in the copy, and counts it.
func (c *copied) apply(e edit) error {
	file := filepath.Join(c.dir, filepath.FromSlash(e.file))
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), e.from); n != 1 {
		return fmt.Errorf("%s has %q %d times, not once", e.file, e.from, n)
	}
	c.lines.add(e.file, 1)
	return os.WriteFile(file, []byte(strings.Replace(string(text), e.from, e.to, 1)), 0o644)
}

func (c *copied) remove() error { return os.RemoveAll(c.dir) }

// dropLocalReplacements removes the replacements by folders of the program's repository, which are not in the
// module cache: modules of their own are taken at the versions that the program requires.
func (c *copied) dropLocalReplacements(ctx context.Context) error {
	out, err := output(ctx, c.dir, "mod", "edit", "-json")
	if err != nil {
		return err
	}
	var mod struct {
		Replace []struct {
			Old struct{ Path, Version string }
			New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return err
	}
	args := []string{"mod", "edit"}
	for _, r := range mod.Replace {
		if r.New.Version == "" {
			args = append(args, "-dropreplace="+strings.TrimSuffix(r.Old.Path+"@"+r.Old.Version, "@"))
		}
	}
	if len(args) == 2 {
		return nil
	}
	_, err = output(ctx, c.dir, args...)
	return err
}

// requireCurator has the copy use this library as it is in the work tree.
func (c *copied) requireCurator(ctx context.Context, root string) error {
	_, err := output(ctx, c.dir, "mod", "edit", "-require="+curator+"@v0.0.0", "-replace="+curator+"="+root)
	return err
}

// add writes a test file of ours into a package of the copy.
func (c *copied) add(s suite) error {
	text, err := testFiles.ReadFile("testdata/" + s.file)
	if err != nil {
		return err
	}
	file := filepath.Join(c.dir, filepath.FromSlash(s.pkg), path.Base(s.file))
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("%s: the program has a file of this name", file)
	}
	return os.WriteFile(file, text, 0o644)
}

// changeImports changes the import of one driver to that of another in every Go file below dir, and nothing
// else, as sed would.
func changeImports(dir, from, to string) (lines changed, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return lines, err
	}
	defer func() { _ = root.Close() }() // it was read and written through, and nothing is lost
	err = fs.WalkDir(root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.HasSuffix(file, ".go") {
			return err
		}
		text, err := root.ReadFile(file)
		if err != nil {
			return err
		}
		before := strings.SplitAfter(string(text), "\n")
		n := 0
		for i, line := range before {
			if after := strings.Replace(line, `"`+from+`"`, `"`+to+`"`, 1); after != line {
				before[i] = after
				n++
			}
		}
		if n == 0 {
			return nil
		}
		lines.files++
		lines.add(file, n)
		return root.WriteFile(file, []byte(strings.Join(before, "")), 0o644)
	})
	return lines, err
}
