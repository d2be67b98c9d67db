package service

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-curator/curator/tools/bench/internal/installed"
)

// install puts programs that do nothing into a directory below root.
func install(t *testing.T, root, dir string, names ...string) string {
	t.Helper()
	dir = filepath.Join(root, dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindPostgreSQL(t *testing.T) {
	root := t.TempDir()
	all := []string{"initdb", "postgres", "pg_isready"}
	install(t, root, "debian/9/bin", all...)
	highest := install(t, root, "debian/15/bin", all...)
	install(t, root, "debian/16/bin", "pg_isready") // clients only
	onPath := install(t, root, "own/bin", all...)
	links := install(t, root, "links")
	if err := os.Symlink(filepath.Join(onPath, "initdb"), filepath.Join(links, "initdb")); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ pattern, path, want string }{
		"Debian's highest version": {"debian/*/bin", "own/bin", highest},
		"in PATH":                  {"nowhere/*/bin", "own/bin", onPath},
		"through a link":           {"nowhere/*/bin", "links", onPath},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", filepath.Join(root, tt.path))
			got, err := findPostgreSQL(filepath.Join(root, tt.pattern))
			want := postgreSQL{filepath.Join(tt.want, "initdb"), filepath.Join(tt.want, "postgres"), filepath.Join(tt.want, "pg_isready")}
			if err != nil || got != want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestAbsentPostgreSQL(t *testing.T) {
	root := t.TempDir()
	install(t, root, "16/bin", "initdb") // without the other programs
	for pattern, want := range map[string]string{"nowhere": "initdb", "*/bin": "postgres"} {
		t.Setenv("PATH", root)
		_, err := findPostgreSQL(filepath.Join(root, pattern))
		if absent := new(installed.AbsentError); !errors.As(err, &absent) || absent.Name != want {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
