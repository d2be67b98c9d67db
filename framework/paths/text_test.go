package paths_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-curator/curator/framework/paths"
)

// What Java Curator 5.4.0 makes of a parent and a child, for each two of these.
var (
	parts  = []string{"", "/", "//", "a", "/a", "a/", "/a/", "a//", "//a", "a//b"}
	joined = []string{
		"/ / / /a /a /a /a /a/ //a /a//b",
		"/ / / /a /a /a /a /a/ //a /a//b",
		"/ / // //a //a //a //a //a/ ///a //a//b",
		"/a /a /a/ /a/a /a/a /a/a /a/a /a/a/ /a//a /a/a//b",
		"/a /a /a/ /a/a /a/a /a/a /a/a /a/a/ /a//a /a/a//b",
		"/a /a /a/ /a/a /a/a /a/a /a/a /a/a/ /a//a /a/a//b",
		"/a /a /a/ /a/a /a/a /a/a /a/a /a/a/ /a//a /a/a//b",
		"/a/ /a/ /a// /a//a /a//a /a//a /a//a /a//a/ /a///a /a//a//b",
		"//a //a //a/ //a/a //a/a //a/a //a/a //a/a/ //a//a //a/a//b",
		"/a//b /a//b /a//b/ /a//b/a /a//b/a /a//b/a /a//b/a /a//b/a/ /a//b//a /a//b/a//b",
	}
)

func TestMake(t *testing.T) {
	for i, parent := range parts {
		for j, want := range strings.Fields(joined[i]) {
			if got := paths.Make(parent, parts[j]); got != want {
				t.Errorf("Make(%q, %q) is %q, want %q", parent, parts[j], got, want)
			}
		}
	}
	for want, parts := range map[string][]string{
		"/foo/bar/baz":     {"foo", "bar", "baz"},
		"/foo/bar/baz/qux": {"/foo/", "/bar/", "/baz/", "qux"},
		"/foo":             {"foo", "", ""},
		"/foo/bar":         {"foo", "bar", ""},
		"/foo/baz":         {"foo", "", "baz"},
		"/a/b":             {"", "a", "", "b"},
		"/a/b//c":          {"a", "b", "//", "c"},
		"/b":               {"", "", "b"}, // "//b" in Java
		"/":                {"/", "", "/", ""},
	} {
		if got := paths.Make(parts[0], parts[1], parts[2:]...); got != want {
			t.Errorf("Make(%q) is %q, want %q", parts, got, want)
		}
	}
}

func TestTakingApart(t *testing.T) {
	for _, tt := range []struct {
		path, parent, node string
		names              []string
	}{
		{"/", "/", "", nil},
		{"/a", "/", "a", []string{"a"}},
		{"/a/b", "/a", "b", []string{"a", "b"}},
		{"/test/one/two", "/test/one", "two", []string{"test", "one", "two"}},
		{"/ä/ö", "/ä", "ö", []string{"ä", "ö"}},
		// Java refuses these.
		{"", "/", "", nil},
		{"a", "/", "a", []string{"a"}},
		{"/a/", "/a", "", []string{"a"}},
		{"//a", "/", "a", []string{"a"}},
		{"a/b", "a", "b", []string{"a", "b"}},
	} {
		parent, node := paths.ParentAndNode(tt.path)
		names := paths.Split(tt.path)
		if parent != tt.parent || node != tt.node || paths.Node(tt.path) != tt.node || !slices.Equal(names, tt.names) {
			t.Errorf("%q is %q and %q, and %q", tt.path, parent, node, names)
		}
	}
}

func TestSequentialSuffix(t *testing.T) {
	for name, want := range map[string]string{
		"lock-0000000001": "0000000001", "0000000001": "0000000001", "/a/b-0123456789": "0123456789",
		"abc": "abc", "": "", "x-2147483648": "2147483648", "ääääääääääää": "ääääääääää",
	} {
		if got := paths.SequentialSuffix(name); got != want {
			t.Errorf("%q has %q", name, got)
		}
	}
}

// What is put together is taken apart again, and no string is too odd.
func FuzzText(f *testing.F) {
	f.Add("a", "b")
	f.Add("/a/", "")
	f.Add("//", "\xff/")
	f.Fuzz(func(t *testing.T, parent, child string) {
		path := paths.Make(parent, child)
		above, node := paths.ParentAndNode(path)
		if clean := !strings.Contains(parent, "//") && !strings.Contains(child, "//"); clean &&
			(path[0] != '/' || strings.Contains(path, "//") || strings.HasSuffix(path[1:], "/") || paths.Make(above, node) != path) {
			t.Fatalf("Make(%q, %q) is %q, of %q and %q", parent, child, path, above, node)
		}
		if names := paths.Split(path); slices.Contains(names, "") {
			t.Fatalf("%q has an empty name: %q", path, names)
		}
		suffix := paths.SequentialSuffix(child)
		if !strings.HasSuffix(child, suffix) || utf8.RuneCountInString(suffix) > 10 {
			t.Fatalf("%q has %q", child, suffix)
		}
	})
}
