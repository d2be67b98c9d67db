package schema_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-curator/curator/framework/schema"
)

func load(t *testing.T, text string, validators map[string]schema.Validator) []*schema.Schema {
	t.Helper()
	schemas, err := schema.LoadJSON(strings.NewReader(text), validators)
	return must(t, schemas, err)
}

const twoSchemas = `[
  {
    "name": "test", "path": "/a/b/c", "documentation": "This is a schema",
    "ephemeral": "must", "sequential": "CANNOT", "watched": "Can",
    "metadata": {"one": 1, "two": "2", "three": 1.50, "yes": true, "none": null, "text": "ä\n"}
  },
  {"name": "test2", "path": "/a/.*", "isRegex": true, "ephemeral": "cannot", "canBeDeleted": true, "schemaValidator": "v"}
]
`

func TestLoadJSON(t *testing.T) {
	v := schema.ValidatorFunc(func(_ *schema.Schema, c schema.Change) error {
		if len(c.Data) == 0 {
			return errors.New("no data")
		}
		return nil
	})
	schemas := load(t, twoSchemas, map[string]schema.Validator{"v": v, "other": nil})
	if len(schemas) != 2 {
		t.Fatalf("%d schemas", len(schemas))
	}
	one, two := schemas[0], schemas[1]
	if one.Name() != "test" || one.Path() != "/a/b/c" || one.Documentation() != "This is a schema" || one.CanBeDeleted() || one.Validator() != nil {
		t.Errorf("%+v", one)
	}
	if one.Ephemeral() != schema.Must || one.Sequential() != schema.Cannot || one.Watched() != schema.Can {
		t.Errorf("%+v", one)
	}
	want := map[string]string{"one": "1", "two": "2", "three": "1.50", "yes": "true", "none": "null", "text": "ä\n"}
	if !reflect.DeepEqual(one.Metadata(), want) {
		t.Errorf("metadata %q", one.Metadata())
	}
	if two.RawPath() != "/a/.*" || !two.IsRegexp() || !two.CanBeDeleted() || two.Metadata() != nil {
		t.Errorf("%+v", two)
	}
	set := newSet(t, true, schemas...)
	wantViolation(t, set.ValidateCreate("/a/b/c", false, false, nil, nil), "test", "must be ephemeral")
	wantViolation(t, set.ValidateCreate("/a/b/c/d/e", true, false, nil, nil), "test2", "cannot be ephemeral")
	wantViolation(t, set.ValidateSetData("/a/x", nil), "test2", "is not valid")
	if err := set.ValidateCreate("/a/b/c", true, false, nil, nil); err != nil {
		t.Error(err)
	}
	if err := set.ValidateSetData("/a/x", []byte("good")); err != nil {
		t.Error(err)
	}
	if len(load(t, " [ ] ", nil)) > 0 {
		t.Error("schemas out of nothing")
	}
}

// As in Java's TestSchema.testOrdering.
func TestOrdering(t *testing.T) {
	set := newSet(t, true, load(t, `[
		{"name": "1", "path": "/exact/match", "isRegex": false, "ephemeral": "cannot", "sequential": "must"},
		{"name": "2", "path": "/exact/other/.*", "isRegex": true, "ephemeral": "must", "sequential": "can"},
		{"name": "3", "path": "/exact/.*", "isRegex": true, "ephemeral": "can", "sequential": "cannot"}]`, nil)...)
	wantViolation(t, set.ValidateCreate("/exact/match", true, false, nil, nil), "1", "cannot be ephemeral")
	wantViolation(t, set.ValidateCreate("/exact/foo/bar", true, true, nil, nil), "3", "cannot be sequential")
	wantViolation(t, set.ValidateCreate("/exact/other/bar", false, true, nil, nil), "2", "must be ephemeral")
	for _, err := range []error{
		set.ValidateCreate("/exact/match", false, true, nil, nil),
		set.ValidateCreate("/exact/other/thing", true, true, nil, nil),
		set.ValidateCreate("/exact/foo/bar", true, false, nil, nil),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestLoadJSONErrors(t *testing.T) {
	node := func(more string) string { return `[{"name": "a", "path": "/a"` + more + `}]` }
	for _, tt := range []struct{ text, want string }{
		{``, "line 1: unexpected end of JSON input"},
		{`{}`, "must be an array"},
		{`null`, "must be an array"},
		{"[\n\n1]", "number 1: 1 is not an object"},
		{`[null]`, "null is not an object"},
		{"[\n{\"name\": \"a\",\n}]", "line 3: invalid character '}'"},
		{`[{"name": "a"`, "unexpected end of JSON input"},
		{`[{"name": "a", "path": "/a"}`, "unexpected end of JSON input"},
		{`[] []`, "line 1: invalid character '[' after top-level value"},
		{`[] ?`, "invalid character '?'"},
		{"[{\"name\": \"\xff\", \"path\": \"/a\"}]", "not UTF-8"},
		{`[{"path": "/a"}]`, `it has no "name"`},
		{`[{"name": "", "path": "/a"}]`, `it has no "name"`},
		{`[{"name": "a"}]`, `"a": it has no "path"`},
		{`[{"name": 1, "path": "/a"}]`, `"name" must be a string, not 1`},
		{`[{"name": "a", "path": null}]`, `"a": "path" must be a string, not null`},
		{`[{"name": "a", "path": ""}]`, "it is empty"},
		{`[{"name": "a", "path": "a"}]`, "does not begin with a slash"},
		{`[{"name": "a", "path": "", "isRegex": true}]`, "the regular expression is empty"},
		{node(`, "colour": "red"`), `"a": there is no key "colour"`},
		{node(`, "Ephemeral": "must"`), `there is no key "Ephemeral"`},
		{node(`, "path": "/b"`), `the key "path" is there twice`},
		{node(`, "isRegex": "true"`), `"isRegex" must be true or false, not "true"`},
		{node(`, "canBeDeleted": 1`), `"canBeDeleted" must be true or false, not 1`},
		{node(`, "canBeDeleted": null`), `"canBeDeleted" must be true or false, not null`},
		{node(`, "ephemeral": "may"`), `"ephemeral" must be "can", "must" or "cannot", not "may"`},
		{node(`, "watched": true`), `"watched" must be "can"`},
		{node(`, "watched": null`), `"watched" must be "can"`},
		{node(`, "metadata": ["a"]`), `"metadata" must be an object`},
		{node(`, "metadata": {"a": 1, "a": 2}`), `"metadata" must be an object that has each key once`},
		{node(`, "metadata": {"a": {"b": 1}}`), `the value of "a" in "metadata" must be`},
		{node(`, "schemaValidator": "missing"`), `there is no validator "missing"`},
		{node(`, "schemaValidator": "nil"`), `there is no validator "nil"`},
		{node(`}, {"name": "a", "path": "/b"`), `two are named "a"`},
		{node(`}, {"name": "b", "path": "/a/"`), `"a" and "b" have the same path, /a`},
		{`[{"name": "a", "path": "/a(?=b)", "isRegex": true}]`, "the syntax is Go's, not Java's"},
		{`[{"name": "a", "path": "/[a-z&&[aeiou]]", "isRegex": true}]`, "&& in brackets means something else in Java"},
		{`[{"name": "a", "path": "/[^]a[bc]]", "isRegex": true}]`, "[ in brackets means something else in Java"},
		{`[{"name": "a", "path": "/[[:alpha:]]", "isRegex": true}]`, "[ in brackets means something else in Java"},
	} {
		schemas, err := schema.LoadJSON(strings.NewReader(tt.text), map[string]schema.Validator{"nil": nil})
		if schemas != nil || !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

// What has the same meaning in Java is not refused.
func TestLoadJSONBrackets(t *testing.T) {
	for _, expr := range []string{
		`/[a-z]+&&/[0-9]`, `/[]a]`, `/[^]]`, `/[\\[\\]]`, `/\\[a&&b\\]`, `/\\Q[a[b]&&\\E[c]`, `/\\Q[a[b`, `/[a&]&`,
	} {
		load(t, `[{"name": "a", "isRegex": true, "path": "`+expr+`"}]`, nil)
	}
}

func TestLoadJSONReader(t *testing.T) {
	errRead := errors.New("disk on fire")
	_, err := schema.LoadJSON(iotest.ErrReader(errRead), nil)
	if !errors.Is(err, errRead) || errors.Is(err, schema.ErrInvalid) {
		t.Errorf("error %v", err)
	}
	endless := io.MultiReader(strings.NewReader("["), &spaces{})
	if _, err := schema.LoadJSON(endless, nil); !errors.Is(err, schema.ErrInvalid) || !strings.Contains(err.Error(), "more than 16777216 bytes") {
		t.Errorf("error %v", err)
	}
	if _, err := schema.LoadJSON(iotest.OneByteReader(strings.NewReader(`[{"name": "a", "path": "/a"}]`)), nil); err != nil {
		t.Error(err)
	}
	deep := `[{"name": "a", "path": "/a", "metadata": ` + strings.Repeat(`{"a":`, 100_000)
	if _, err := schema.LoadJSON(strings.NewReader(deep), nil); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

// spaces never ends.
type spaces struct{}

func (*spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Whatever the file: no panic, and what is loaded is found again.
func FuzzLoadJSON(f *testing.F) {
	f.Add([]byte(twoSchemas))
	f.Add([]byte(`[{"name": "a", "path": "/"}, {"name": "b", "path": "/[^]]\\Qx|(?i)y?", "isRegex": true}]`))
	f.Add([]byte(`[{"name": "a", "path": "/a&&[b]", "canBeDeleted": tru`))
	v := schema.ValidatorFunc(func(*schema.Schema, schema.Change) error { return nil })
	f.Fuzz(func(t *testing.T, text []byte) {
		schemas, err := schema.LoadJSON(strings.NewReader(string(text)), map[string]schema.Validator{"v": v})
		if err != nil {
			if schemas != nil || !errors.Is(err, schema.ErrInvalid) {
				t.Fatalf("%v, %v", schemas, err)
			}
			return
		}
		set, err := schema.NewSet(schemas, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range schemas {
			if found, ok := set.Named(s.Name()); !ok || found != s {
				t.Fatalf("%q is lost", s.Name())
			}
			if found, err := set.Schema(s.RawPath()); !s.IsRegexp() && (err != nil || found != s) {
				t.Fatalf("%q is lost: %v", s.Path(), err)
			}
		}
		_ = set.Documentation()
	})
}
