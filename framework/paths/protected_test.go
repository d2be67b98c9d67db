package paths_test

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
)

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
