package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework/schema"
)

// must returns a value that was made without an error.
func must[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// exact and expr return schemas that must be valid.
func exact(t *testing.T, name, path string, opts ...schema.Option) *schema.Schema {
	t.Helper()
	s, err := schema.New(name, path, opts...)
	return must(t, s, err)
}

func expr(t *testing.T, name, expr string, opts ...schema.Option) *schema.Schema {
	t.Helper()
	s, err := schema.NewRegexp(name, expr, opts...)
	return must(t, s, err)
}

func newSet(t *testing.T, useDefault bool, schemas ...*schema.Schema) *schema.Set {
	t.Helper()
	set, err := schema.NewSet(schemas, useDefault)
	return must(t, set, err)
}

// wantViolation fails unless err is a violation of the schema, "" for none, with a reason.
func wantViolation(t *testing.T, err error, name, reason string) *schema.Violation {
	t.Helper()
	var v *schema.Violation
	if !errors.As(err, &v) {
		t.Fatalf("error %v, want a violation: %s", err, reason)
	}
	got := ""
	if v.Schema != nil {
		got = v.Schema.Name()
	}
	if got != name || v.Reason != reason {
		t.Fatalf("schema %q: %s; want %q: %s", got, v.Reason, name, reason)
	}
	return v
}

func TestDefaults(t *testing.T) {
	s := exact(t, "jobs", "/jobs/")
	if s.Name() != "jobs" || s.Path() != "/jobs" || s.RawPath() != "/jobs" || s.IsRegexp() {
		t.Errorf("%+v", s)
	}
	if s.Ephemeral() != schema.Can || s.Sequential() != schema.Can || s.Watched() != schema.Can || !s.CanBeDeleted() {
		t.Errorf("%+v", s)
	}
	if s.Documentation() != "" || s.Metadata() != nil || s.Validator() != nil {
		t.Errorf("%+v", s)
	}
	if s := expr(t, "all", "/.*"); s.Path() != "" || s.RawPath() != "/.*" || !s.IsRegexp() || !s.CanBeDeleted() {
		t.Errorf("%+v", s)
	}
	if s := exact(t, "root", "/"); s.Path() != "/" {
		t.Errorf("path %q", s.Path())
	}
}

func TestOptions(t *testing.T) {
	metadata := map[string]string{"a": "1"}
	s := exact(t, "n", "/n",
		schema.WithDocumentation("text"), schema.WithEphemeral(schema.Must), schema.WithSequential(schema.Cannot),
		schema.WithWatched(schema.Must), schema.WithCanBeDeleted(false), schema.WithMetadata(metadata),
		schema.WithValidator(schema.ValidatorFunc(func(*schema.Schema, schema.Change) error { return nil })))
	metadata["a"] = "changed"
	s.Metadata()["a"] = "changed"
	if s.Documentation() != "text" || s.Metadata()["a"] != "1" || s.Validator() == nil {
		t.Errorf("%+v", s)
	}
	if s.Ephemeral() != schema.Must || s.Sequential() != schema.Cannot || s.Watched() != schema.Must || s.CanBeDeleted() {
		t.Errorf("%+v", s)
	}
}

func TestInvalidSchemas(t *testing.T) {
	for want, make := range map[string]func() (*schema.Schema, error){
		"it has no name":                 func() (*schema.Schema, error) { return schema.New("", "/a") },
		"it is empty":                    func() (*schema.Schema, error) { return schema.New("a", "") },
		"does not begin with a slash":    func() (*schema.Schema, error) { return schema.New("a", "a/b") },
		"an empty name":                  func() (*schema.Schema, error) { return schema.New("a", "/a//b") },
		"contains an empty name":         func() (*schema.Schema, error) { return schema.New("a", "//") },
		"a relative name":                func() (*schema.Schema, error) { return schema.New("a", "/a/../b") },
		"not valid UTF-8":                func() (*schema.Schema, error) { return schema.New("a", "/\xff") },
		"the regular expression is empt": func() (*schema.Schema, error) { return schema.NewRegexp("a", "") },
		"the syntax is Go's, not Java's": func() (*schema.Schema, error) { return schema.NewRegexp("a", "/a(?!b)") },
		"missing closing )":              func() (*schema.Schema, error) { return schema.NewRegexp("a", "/(a") },
		"unexpected )":                   func() (*schema.Schema, error) { return schema.NewRegexp("a", "/a)|(b") },
		"an option is nil":               func() (*schema.Schema, error) { return schema.New("a", "/a", nil) },
		"WithValidator(nil)":             func() (*schema.Schema, error) { return schema.New("a", "/a", schema.WithValidator(nil)) },
		"WithWatched(3)":                 func() (*schema.Schema, error) { return schema.New("a", "/a", schema.WithWatched(3)) },
		`path "jobs"`:                    func() (*schema.Schema, error) { return schema.ForRecipe("a", "jobs") },
		`path "locks"`:                   func() (*schema.Schema, error) { return schema.ForRecipeParent("a", "locks") },
	} {
		s, err := make()
		if s != nil || !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", want, s, err)
		}
	}
}

// An expression stands for whole paths, whatever is in it.
func TestMatching(t *testing.T) {
	for _, tt := range []struct {
		expr, path string
		want       bool
	}{
		{"/r/.*", "/r/a", true}, {"/r/.*", "/r/a/b", true}, {"/r/.*", "/r/", true}, {"/r/.*", "/r", false},
		{"/r/.*", "/x/r/a", false}, {"/r", "/rr", false}, {"r", "/r", false},
		{"/a|/ab", "/ab", true}, {"/ab|/a", "/a", true}, {"/a|/b/c", "/b/c", true}, {"/a|b", "/b", false},
		{"/a*?", "/aaa", true}, {"/a?b??", "/ab", true}, {"^/a$", "/a", true}, {"/a$|/ab", "/ab", true},
		{`/\Qa.b`, "/a.b", true}, {`/\Qa.b`, "/axb", false}, {"(?i)/A", "/a", true}, {"(?:/a", "/a", false},
		{"/(jobs|tasks)/[0-9]{10}", "/jobs/0000000001", true}, {"/(jobs|tasks)/[0-9]{10}", "/jobs/000000001", false},
	} {
		s, err := schema.NewRegexp("s", tt.expr)
		if err != nil {
			if tt.want {
				t.Errorf("%s: %v", tt.expr, err)
			}
			continue
		}
		_, err = newSet(t, false, s).Schema(tt.path)
		if (err == nil) != tt.want {
			t.Errorf("%s matches %s: %t", tt.expr, tt.path, err == nil)
		}
	}
}

// As in Java's TestInterProcessMutex.testWithSchema: a lock works under these two.
func TestRecipes(t *testing.T) {
	parent, err := schema.ForRecipeParent("lock", "/lo.ck")
	must(t, parent, err)
	nodes, err := schema.ForRecipe("nodes", "/lo.ck")
	must(t, nodes, err)
	set := newSet(t, false, parent, nodes)
	const node = "/lo.ck/lock-"
	for what, err := range map[string]error{
		"create parent": set.ValidateCreate("/lo.ck", false, false, nil, nil),
		"delete parent": set.ValidateDelete("/lo.ck"),
		"create":        set.ValidateCreate(node, true, true, nil, nil),
		"watch":         set.ValidateRead(node+"0000000000", true),
		"delete":        set.ValidateDelete(node + "0000000000"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantViolation(t, set.ValidateCreate("/lo.ck", true, false, nil, nil), "lock", "cannot be ephemeral")
	wantViolation(t, set.ValidateCreate("/lo.ck", false, true, nil, nil), "lock", "cannot be sequential")
	wantViolation(t, set.ValidateCreate(node, false, true, nil, nil), "nodes", "must be ephemeral")
	wantViolation(t, set.ValidateCreate(node, true, false, nil, nil), "nodes", "must be sequential")
	wantViolation(t, set.ValidateRead(node+"0000000000", false), "nodes", "must be watched")
	wantViolation(t, set.ValidateRead("/loxck/lock-", true), "", "there is no schema for this path")

	root, err := schema.ForRecipe("root", "/", schema.WithWatched(schema.Can))
	must(t, root, err)
	if root.RawPath() != "/.*" || root.Watched() != schema.Can || root.Ephemeral() != schema.Must {
		t.Errorf("%+v", root)
	}
}

func TestAllowanceText(t *testing.T) {
	for a, want := range map[schema.Allowance]string{
		schema.Can: "can", schema.Must: "must", schema.Cannot: "cannot", 3: "Allowance(3)", -1: "Allowance(-1)",
	} {
		if a.String() != want {
			t.Errorf("%d is %q", int(a), a)
		}
	}
}
