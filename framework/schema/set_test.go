package schema_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework/schema"
)

func TestLookup(t *testing.T) {
	a, first, second := exact(t, "exact", "/jobs/a"), expr(t, "first", "/jobs/.*"), expr(t, "second", "/.*")
	set := newSet(t, true, second, first, a)
	if found, err := set.Schema("/jobs/b"); err != nil || found != second {
		t.Errorf("the first expression is not preferred: %v, %v", found, err)
	}
	if found, err := set.Schema("/jobs/a"); err != nil || found != a {
		t.Errorf("the path is not preferred: %v, %v", found, err)
	}
	if found, err := newSet(t, true, first).Schema("/other"); err != nil || found.Name() != "__default__" || !found.CanBeDeleted() {
		t.Errorf("default: %v, %v", found, err)
	}
	if all := set.Schemas(); !reflect.DeepEqual(all, []*schema.Schema{second, first, a}) {
		t.Errorf("schemas %v", all)
	}
}

func TestNoDefault(t *testing.T) {
	for name, set := range map[string]*schema.Set{
		"some": newSet(t, false, exact(t, "a", "/a")),
		"none": newSet(t, false),
		"zero": new(schema.Set),
	} {
		t.Run(name, func(t *testing.T) {
			const reason = "there is no schema for this path"
			_, err := set.Schema("/x")
			if text := err.Error(); text != "/x: "+reason {
				t.Errorf("error %q", text)
			}
			for op, err := range map[schema.Op]error{
				"":               err,
				schema.OpCreate:  set.ValidateCreate("/x", false, false, nil, nil),
				schema.OpSetData: set.ValidateSetData("/x", nil),
				schema.OpSetACL:  set.ValidateSetACL("/x", nil),
				schema.OpDelete:  set.ValidateDelete("/x"),
				schema.OpRead:    set.ValidateRead("/x", false),
			} {
				if v := wantViolation(t, err, "", reason); v.Change.Op != op || v.Change.Path != "/x" {
					t.Errorf("change %+v", v.Change)
				}
			}
		})
	}
}

func TestPermissive(t *testing.T) {
	for name, set := range map[string]*schema.Set{"nil": nil, "default": newSet(t, true)} {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{
				set.ValidateCreate("/x", true, true, nil, nil), set.ValidateSetData("/x", nil), set.ValidateSetACL("/x", nil),
				set.ValidateDelete("/x"), set.ValidateRead("/x", true), set.ValidateRead("/x", false),
			} {
				if err != nil {
					t.Error(err)
				}
			}
			if text := set.Documentation(); text != "Default schema" {
				t.Errorf("documentation %q", text)
			}
			if _, ok := set.NamedPath("x"); ok || len(set.Schemas()) > 0 {
				t.Error("there are schemas")
			}
			if _, err := set.Schema("/x"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAllowances(t *testing.T) {
	for _, a := range []schema.Allowance{schema.Can, schema.Must, schema.Cannot} {
		set := newSet(t, false,
			exact(t, "e", "/e", schema.WithEphemeral(a)), exact(t, "s", "/s", schema.WithSequential(a)),
			exact(t, "w", "/w", schema.WithWatched(a)))
		for _, chosen := range []bool{false, true} {
			for name, check := range map[string]struct {
				err  error
				what string
			}{
				"e": {set.ValidateCreate("/e", chosen, !chosen, nil, nil), "ephemeral"},
				"s": {set.ValidateCreate("/s", !chosen, chosen, nil, nil), "sequential"},
				"w": {set.ValidateRead("/w", chosen), "watched"},
			} {
				switch {
				case chosen && a == schema.Cannot:
					wantViolation(t, check.err, name, "cannot be "+check.what)
				case !chosen && a == schema.Must:
					wantViolation(t, check.err, name, "must be "+check.what)
				case check.err != nil:
					t.Errorf("%s %s, %t: %v", a, check.what, chosen, check.err)
				}
			}
		}
	}
	set := newSet(t, true, exact(t, "d", "/d", schema.WithCanBeDeleted(false)))
	wantViolation(t, set.ValidateDelete("/d"), "d", "cannot be deleted")
}

func TestValidator(t *testing.T) {
	errBad := errors.New("too bad")
	var seen []schema.Change
	var judge *schema.Schema
	judge = exact(t, "v", "/v", schema.WithEphemeral(schema.Cannot), schema.WithCanBeDeleted(true),
		schema.WithValidator(schema.ValidatorFunc(func(s *schema.Schema, c schema.Change) error {
			if s != judge {
				t.Errorf("schema %v", s)
			}
			seen = append(seen, c)
			if string(c.Data) == "bad" || len(c.ACL) > 1 {
				return errBad
			}
			return nil
		})))
	set := newSet(t, false, judge)
	acl := []schema.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}
	for _, err := range []error{
		set.ValidateCreate("/v", false, false, []byte("good"), acl),
		set.ValidateSetData("/v", []byte("good")),
		set.ValidateSetACL("/v", acl),
		set.ValidateDelete("/v"),
		set.ValidateRead("/v", true),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if want := []schema.Change{
		{Op: schema.OpCreate, Path: "/v", Data: []byte("good"), ACL: acl},
		{Op: schema.OpSetData, Path: "/v", Data: []byte("good")},
		{Op: schema.OpSetACL, Path: "/v", ACL: acl},
	}; !reflect.DeepEqual(seen, want) {
		t.Errorf("the validator saw %+v", seen)
	}

	seen = nil
	wantViolation(t, set.ValidateCreate("/v", true, false, []byte("bad"), nil), "v", "cannot be ephemeral")
	if len(seen) > 0 {
		t.Error("the validator was asked all the same")
	}
	data := []byte("bad")
	err := set.ValidateSetData("/v", data)
	copy(data, "xxx")
	v := wantViolation(t, err, "v", "is not valid")
	if !errors.Is(err, errBad) || err.Error() != `setData /v: is not valid: too bad (schema "v")` || string(v.Change.Data) != "bad" {
		t.Errorf("%v; data %q", err, v.Change.Data)
	}
	wantViolation(t, set.ValidateSetACL("/v", append(acl, acl...)), "v", "is not valid")
	wantViolation(t, set.ValidateCreate("/v", false, false, []byte("bad"), nil), "v", "is not valid")
}

func TestInvalidSets(t *testing.T) {
	for name, schemas := range map[string][]*schema.Schema{
		"nil":        {nil},
		"zero":       {new(schema.Schema)},
		"name":       {exact(t, "a", "/a"), exact(t, "a", "/b")},
		"names":      {exact(t, "a", "/a"), expr(t, "a", "/b")},
		"path":       {exact(t, "a", "/a"), exact(t, "b", "/a/")},
		"expression": {expr(t, "a", "/a"), expr(t, "b", "/a")},
	} {
		if set, err := schema.NewSet(schemas, true); set != nil || !errors.Is(err, schema.ErrInvalid) {
			t.Errorf("%s: %v, %v", name, set, err)
		}
	}
	newSet(t, true, exact(t, "a", "/a"), expr(t, "b", "/a")) // these differ
}

// The layout is what Java Curator 5.4.0 printed for the same schemas.
func TestDocumentation(t *testing.T) {
	set := newSet(t, false,
		exact(t, "n", "/a/b/", schema.WithEphemeral(schema.Must), schema.WithWatched(schema.Cannot), schema.WithCanBeDeleted(false),
			schema.WithMetadata(map[string]string{"y": "2", "x": "1"}), schema.WithDocumentation("doc")),
		expr(t, "r", "/r/.*", schema.WithValidator(schema.ValidatorFunc(nil))))
	const want = `Curator Schemas:

n
Name: n
Path: /a/b
Doc: doc
Validator: none
Meta: {x=1, y=2}
ephemeral: must | sequential: can | watched: cannot | canBeDeleted: false

r
Name: r
Path Regex: /r/.*
Doc: 
Validator: schema.ValidatorFunc
Meta: {}
ephemeral: can | sequential: can | watched: can | canBeDeleted: true

`
	if got := set.Documentation(); got != want {
		t.Errorf("got:\n%s", got)
	}
	if path, ok := set.NamedPath("n"); !ok || path != "/a/b" {
		t.Errorf("n is at %q, %t", path, ok)
	}
	if path, ok := set.NamedPath("r"); !ok || path != "/r/.*" {
		t.Errorf("r is at %q, %t", path, ok)
	}
	if found, ok := set.Named("q"); ok || found != nil {
		t.Errorf("q is %v", found)
	}
}

func TestConcurrentUse(t *testing.T) {
	set := newSet(t, false, expr(t, "a", "/a|/ab", schema.WithMetadata(map[string]string{"k": "v"})))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if err := set.ValidateCreate("/ab", true, true, nil, nil); err != nil {
					t.Error(err)
				}
				_ = set.Documentation()
			}
		})
	}
	all.Wait()
}
