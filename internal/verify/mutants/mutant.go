package mutants

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is a mistake that a test must catch.
type Mutant struct {
	Name    string // what is wrong, in a few words
	Breaks  string // the rule or the promise that is broken
	Edits   []Edit
	Package string // of the tests, as a path below the repository: "recipes/locks"
	Tests   string // the expression for go test -run
}

// Edit replaces text that is in a file once.
type Edit struct {
	File string // below the repository, with slashes
	Old  string
	New  string
}

// apply returns the files that the edits of some mutants change, by their path below root. It fails if
// the text of an edit is not in its file once: the code has changed, and the table must follow.
func apply(root string, all ...Mutant) (map[string]string, error) {
	files := map[string]string{}
	for _, m := range all {
		for _, e := range m.Edits {
			text, ok := files[e.File]
			if !ok {
				original, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
				if err != nil {
					return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
				}
				text = string(original)
			}
			if n := strings.Count(text, e.Old); n != 1 {
				return nil, fmt.Errorf("mutant %q: %s has this text %d times, not once; correct internal/verify/mutants/table.go:\n%s", m.Name, e.File, n, e.Old)
			}
			files[e.File] = strings.Replace(text, e.Old, e.New, 1)
		}
	}
	return files, nil
}

// writeOverlay writes files and the description that go's -overlay wants into dir, and returns the
// path of the description.
func writeOverlay(root, dir string, files map[string]string) (string, error) {
	replace := map[string]string{}
	for i, file := range slices.Sorted(maps.Keys(files)) {
		copied := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(copied, []byte(files[file]), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = copied
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// Root returns the directory of the repository that dir is in.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("there is no go.mod above %s", dir)
		}
		dir = parent
	}
}
