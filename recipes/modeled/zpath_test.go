package modeled_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/modeled"
)

type customer int

func (c customer) NodeName() string { return "customer-" + string(rune('a'+c)) }

type stringer struct{}

func (*stringer) String() string { return "s" }

func TestZPath(t *testing.T) {
	root, orders := modeled.ZPath{}, modeled.ParseZPathWithIDs("/customers/{customer}/orders/{}")
	for name, c := range map[string]struct {
		path modeled.ZPath
		text string // of String
		want string // of Path, "" for an error
		why  string
	}{
		"zero":                    {root, "/", "/", ""},
		"root":                    {modeled.ParseZPath("/"), "/", "/", ""},
		"plain":                   {modeled.ParseZPath("/a/b"), "/a/b", "/a/b", ""},
		"braces mean nothing":     {modeled.ParseZPath("/a/{id}"), "/a/{id}", "/a/{id}", ""},
		"child with braces":       {root.Child("{id}"), "/{id}", "/{id}", ""},
		"half a brace":            {modeled.ParseZPathWithIDs("/{a/b}/{"), "/{a/b}/{", "/{a/b}/{", ""},
		"unresolved":              {orders, "/customers/{customer}/orders/{}", "", "{customer}"},
		"partly resolved":         {orders.Resolved("x"), "/customers/x/orders/{}", "", "{}"},
		"resolved":                {orders.Resolved(customer(1), 42), "/customers/customer-b/orders/42", "/customers/customer-b/orders/42", ""},
		"resolved step by step":   {orders.Resolved("x").Resolved().Resolved("y"), "/customers/x/orders/y", "/customers/x/orders/y", ""},
		"below a parameter":       {orders.Child("lines").Resolved("x", "y"), "/customers/x/orders/y/lines", "/customers/x/orders/y/lines", ""},
		"a value with braces":     {orders.Resolved("{a}", "y"), "/customers/{a}/orders/y", "/customers/{a}/orders/y", ""},
		"too many":                {orders.Resolved(1, 2, 3), "/customers/1/orders/2", "", "2 parameters, and values for 3"},
		"parent":                  {orders.Resolved(1).Parent(), "/customers/1/orders", "/customers/1/orders", ""},
		"parent of a child":       {root.Child("a").Parent(), "/", "/", ""},
		"parent of the root":      {root.Parent(), "/", "", "root has no parent"},
		"child of a bad path":     {root.Parent().Child("a"), "/a", "", "root has no parent"},
		"stringer":                {root.Child(new(stringer)), "/s", "/s", ""},
		"bool and float":          {root.Child(true).Child(1.5), "/true/1.5", "/true/1.5", ""},
		"empty text":              {modeled.ParseZPath(""), "/", "", "does not begin with a slash"},
		"no slash":                {modeled.ParseZPath("a"), "/", "", "does not begin with a slash"},
		"slash at the end":        {modeled.ParseZPath("/a/"), "/", "", "empty"},
		"empty name":              {modeled.ParseZPathWithIDs("/a//b"), "/", "", "empty"},
		"dots":                    {modeled.ParseZPath("/a/../b"), "/", "", "relative"},
		"NUL":                     {modeled.ParseZPath("/a/\x00id"), "/", "", "U+0000"},
		"value with a slash":      {orders.Resolved("a/b"), orders.String(), "", `{customer}: the name "a/b" contains a slash`},
		"value that goes up":      {orders.Resolved(".."), orders.String(), "", "relative"},
		"empty value":             {orders.Resolved(""), orders.String(), "", "empty"},
		"value that is a mark":    {orders.Resolved("\x00x"), orders.String(), "", "U+0000"},
		"nil":                     {root.Child(nil), "/", "", "nil"},
		"nil pointer":             {root.Child((*stringer)(nil)), "/", "", "nil"},
		"pointer":                 {root.Child(new(int)), "/", "", "*int is no name"},
		"slice":                   {root.Child([]byte("a")), "/", "", "[]uint8 is no name"},
		"path as a name":          {root.Child(modeled.ParseZPath("/a")), "/", "", "slash"},
		"parameter of a bad path": {modeled.ParseZPathWithIDs("x").Resolved(1), "/", "", "does not begin"},
	} {
		got, err := c.path.Path()
		switch {
		case c.path.String() != c.text, got != c.want:
			t.Errorf("%s: %q, %q, %v", name, c.path, got, err)
		case c.want == "" && (!errors.Is(err, framework.ErrInvalidPath) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%s: error %v, want %q", name, err, c.why)
		case c.want != "" && err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestZPathQuestions(t *testing.T) {
	p := modeled.ParseZPathWithIDs("/a/{x}/b")
	for _, c := range []struct {
		path modeled.ZPath
		want bool
	}{
		{modeled.ZPath{}, true}, {modeled.ParseZPath("/a"), true}, {p, true}, {p.Parent(), true}, {p.Child("c"), false},
		{modeled.ParseZPath("/a/{x}"), false}, {modeled.ParseZPath("/"), true}, {modeled.ParseZPath("/ab"), false},
		{modeled.ParseZPath("bad"), false},
	} {
		if got := p.StartsWith(c.path); got != c.want {
			t.Errorf("%s starts with %s: %v", p, c.path, got)
		}
	}
	if p.IsResolved() || !p.Resolved(1).IsResolved() || !(modeled.ZPath{}).IsResolved() {
		t.Error("IsResolved")
	}
	if p.Name() != "b" || p.Parent().Name() != "{x}" || (modeled.ZPath{}).Name() != "" {
		t.Errorf("names %q, %q", p.Name(), p.Parent().Name())
	}
	if p.Resolved(1) != modeled.ParseZPath("/a/1/b") {
		t.Error("paths are not comparable")
	}
}

func TestSchemaPathPattern(t *testing.T) {
	for _, c := range []struct {
		path, yes, no string
	}{
		{"/", "/", "/a"},
		{"/a.b", "/a.b", "/aXb"},
		{"/a/{x}", "/a/anything", "/a/b/c"},
		{"/a/{x}/c", "/a/b/c", "/a//c"},
	} {
		expr, err := modeled.ParseZPathWithIDs(c.path).SchemaPathPattern()
		if err != nil || !expr.MatchString(c.yes) || expr.MatchString(c.no) {
			t.Errorf("%s: %v, %v", c.path, expr, err)
		}
	}
	if _, err := modeled.ParseZPath("a").SchemaPathPattern(); !errors.Is(err, framework.ErrInvalidPath) {
		t.Errorf("error %v", err)
	}
}

// However a path is made, it is valid as a text, or an error.
func FuzzZPath(f *testing.F) {
	f.Add("/a/{b}/c", "x", "y")
	f.Add("/{}", "{}", "/")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		p := modeled.ParseZPathWithIDs(text).Resolved(one).Child(two)
		got, err := p.Path()
		if err != nil {
			return
		}
		if again, err := modeled.ParseZPath(got).Path(); again != got || err != nil {
			t.Errorf("%q of %q is read as %q, %v", got, p, again, err)
		}
		if !p.StartsWith(p.Parent()) || p.Parent().Child(p.Name()) != p {
			t.Errorf("%q is not the child of its parent %q", p, p.Parent())
		}
	})
}
