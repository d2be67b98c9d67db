package paths_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
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

func TestProtectedNames(t *testing.T) {
	const id = "a5b9f5a0-1c2d-4e3f-8a9b-0123456789ab"
	for name, want := range map[string]struct{ id, name string }{
		"_c_" + id + "-lock-0000000003":             {id, "lock-0000000003"},
		"_c_" + id + "-":                            {id, ""},
		"_c_A5B9F5A0-1C2D-4E3F-8A9B-0123456789AB-x": {"A5B9F5A0-1C2D-4E3F-8A9B-0123456789AB", "x"},
		"_c_" + id:        {"", "_c_" + id},
		"_c_" + id + "+x": {"", "_c_" + id + "+x"},
		"c_" + id + "-x":  {"", "c_" + id + "-x"},
		"_c_g5b9f5a0-1c2d-4e3f-8a9b-0123456789ab-x":           {"", "_c_g5b9f5a0-1c2d-4e3f-8a9b-0123456789ab-x"},
		"_c_a5b9f5a01c2d4e3f8a9b0123456789ab-lock-0000000000": {"", "_c_a5b9f5a01c2d4e3f8a9b0123456789ab-lock-0000000000"},
		"": {"", ""},
	} {
		got, ok := paths.ProtectedID(name)
		if got != want.id || ok != (want.id != "") || paths.IsProtected(name) != ok {
			t.Errorf("the id of %q is %q, %t", name, got, ok)
		}
		if got := paths.Unprotected(name); got != want.name {
			t.Errorf("%q without protection is %q", name, got)
		}
		if got := paths.UnprotectedPath("/a/" + name); got != "/a/"+want.name {
			t.Errorf("/a/%s without protection is %q", name, got)
		}
		if ok && paths.Protected(want.name, want.id) != name {
			t.Errorf("%q with protection is %q", want.name, paths.Protected(want.name, want.id))
		}
	}
}

// Without an id there is no protection, as with Java's null.
func TestProtectedWithoutID(t *testing.T) {
	for _, name := range []string{"yo", ""} {
		if got := paths.Protected(name, ""); got != name {
			t.Errorf("%q with no id is %q", name, got)
		}
	}
}

// TestProtectedNode looks at the name of a node that was made.
func TestProtectedNode(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		c, _ := b.Client(t)
		path := b.Path("protected")
		made, err := c.Create().CreatingParentsIfNeeded().WithProtection().WithMode(framework.Ephemeral).ForPath(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if !paths.IsProtected(paths.Node(made)) || paths.UnprotectedPath(made) != path {
			t.Errorf("%q of %q", made, path)
		}
	})
}
