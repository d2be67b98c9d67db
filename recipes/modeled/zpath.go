package modeled

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/go-curator/curator/framework"
)

// ZPath is a path whose elements may be parameters. It is a comparable value; the zero value is
// the root. A ZPath may be invalid: then Path and every operation return the error.
//
// Java: ZPath.
type ZPath struct {
	text  string // the elements, each behind a slash, parameters marked; "" for the root
	wrong string // what is wrong with the path, "" if nothing is
}

// parameterMark precedes the name of a parameter in ZPath.text. It cannot be in a path.
const parameterMark = "\x00"

// NodeName is a parameter or child that has a method for its name.
//
// Java: NodeName.
type NodeName interface {
	// NodeName returns the name: one element of a path, without a slash.
	NodeName() string
}

// ParseZPath returns the path of a text, in which braces have no special meaning.
//
// Java: ZPath.parse.
func ParseZPath(path string) ZPath { return parse(path, false) }

// ParseZPathWithIDs returns the path of a text in which elements in braces, "{id}", are
// parameters. The names of parameters are only for people: parameters are replaced in their
// order.
//
// Java: ZPath.parseWithIds, ZPath.parameter.
func ParseZPathWithIDs(path string) ZPath { return parse(path, true) }

func parse(path string, ids bool) ZPath {
	rest, ok := strings.CutPrefix(path, "/")
	switch {
	case !ok:
		return ZPath{wrong: fmt.Sprintf("%q does not begin with a slash", path)}
	case rest == "":
		return ZPath{}
	}
	p := ZPath{}
	for name := range strings.SplitSeq(rest, "/") {
		if ids && len(name) >= 2 && name[0] == '{' && name[len(name)-1] == '}' {
			p.text += "/" + parameterMark + name[1:len(name)-1]
			continue
		}
		if wrong := nameError(name); wrong != "" {
			return ZPath{wrong: fmt.Sprintf("%q: %s", path, wrong)}
		}
		p.text += "/" + name
	}
	return p
}

// known returns the path of a text that is valid.
func known(path string) ZPath {
	if path == "/" {
		return ZPath{}
	}
	return ZPath{text: path}
}

// nameError returns what is wrong with a name that would change the shape of its path, "" if
// nothing is. Everything else is left to package framework.
func nameError(name string) string {
	switch {
	case name == "":
		return "a name is empty"
	case name == ".", name == "..":
		return "a name is relative"
	case strings.Contains(name, "/"):
		return fmt.Sprintf("the name %q contains a slash", name)
	case strings.Contains(name, parameterMark):
		return "a name contains the character U+0000"
	}
	return ""
}

// nameOf returns the name that a value stands for, or what is wrong with it.
func nameOf(value any) (name, wrong string) {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "", "a name is nil"
	}
	switch n := value.(type) {
	case NodeName:
		name = n.NodeName()
	case fmt.Stringer:
		name = n.String()
	default:
		switch v.Kind() {
		case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
			reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			name = fmt.Sprint(value)
		default:
			return "", fmt.Sprintf("a %T is no name", value)
		}
	}
	return name, nameError(name)
}

// failed returns the path with something wrong, unless something else is already.
func (p ZPath) failed(wrong string) ZPath {
	if p.wrong == "" {
		p.wrong = fmt.Sprintf("%s: %s", p, wrong)
	}
	return p
}

// Child returns the path of a child. name is a string, a number, a bool, a fmt.Stringer or a
// NodeName; it is never a parameter.
//
// Java: child.
func (p ZPath) Child(name any) ZPath {
	text, wrong := nameOf(name)
	if wrong != "" {
		return p.failed("child: " + wrong)
	}
	p.text += "/" + text
	return p
}

// Parent returns the parent's path; for the root it is invalid.
//
// Java: parent.
func (p ZPath) Parent() ZPath {
	if p.text == "" {
		return p.failed("the root has no parent")
	}
	p.text = p.text[:strings.LastIndexByte(p.text, '/')]
	return p
}

// Resolved returns the path with its first parameters replaced, by values as in Child. With too
// many values the result is invalid.
//
// Java: resolved.
func (p ZPath) Resolved(parameters ...any) ZPath {
	for i, value := range parameters {
		before, after, found := strings.Cut(p.text, "/"+parameterMark)
		if !found {
			return p.failed(fmt.Sprintf("there are %d parameters, and values for %d", i, len(parameters)))
		}
		parameter, rest, more := strings.Cut(after, "/")
		name, wrong := nameOf(value)
		if wrong != "" {
			return p.failed(fmt.Sprintf("parameter {%s}: %s", parameter, wrong))
		}
		p.text = before + "/" + name
		if more {
			p.text += "/" + rest
		}
	}
	return p
}

// IsResolved reports whether the path has no parameters.
//
// Java: isResolved.
func (p ZPath) IsResolved() bool { return !strings.Contains(p.text, "/"+parameterMark) }

// StartsWith reports whether path is p or one of its parents. Parameters are equal if their
// names are.
//
// Java: startsWith.
func (p ZPath) StartsWith(path ZPath) bool {
	return p.wrong == "" && path.wrong == "" && strings.HasPrefix(p.text+"/", path.text+"/")
}

// Path returns the path as text. For an invalid path it returns framework.ErrInvalidPath, and
// also for a path with parameters, with the name of the first one. The operation refuses
// characters that ZooKeeper does not accept.
//
// Java: fullPath.
func (p ZPath) Path() (string, error) {
	switch {
	case p.wrong != "":
		return "", fmt.Errorf("%w: %s", framework.ErrInvalidPath, p.wrong)
	case p.text == "":
		return "/", nil
	}
	if _, after, found := strings.Cut(p.text, "/"+parameterMark); found {
		parameter, _, _ := strings.Cut(after, "/")
		return "", fmt.Errorf("%w: %s: the parameter {%s} has no value", framework.ErrInvalidPath, p, parameter)
	}
	return p.text, nil
}

// Name returns the last element, a parameter in braces. The root has the name "".
//
// Java: nodeName.
func (p ZPath) Name() string {
	name := p.text[strings.LastIndexByte(p.text, '/')+1:]
	if parameter, found := strings.CutPrefix(name, parameterMark); found {
		return "{" + parameter + "}"
	}
	return name
}

// SchemaPathPattern returns an expression that matches the path with any parameters, for
// package schema. A parameter is one element of a path. Errors: framework.ErrInvalidPath.
//
// Java: toSchemaPathPattern.
func (p ZPath) SchemaPathPattern() (*regexp.Regexp, error) {
	if p.wrong != "" {
		return nil, fmt.Errorf("%w: %s", framework.ErrInvalidPath, p.wrong)
	}
	if p.text == "" {
		return regexp.MustCompile("^/$"), nil
	}
	var expr strings.Builder
	for name := range strings.SplitSeq(p.text[1:], "/") {
		if strings.HasPrefix(name, parameterMark) {
			expr.WriteString("/[^/]+")
		} else {
			expr.WriteString("/" + regexp.QuoteMeta(name))
		}
	}
	return regexp.Compile("^" + expr.String() + "$")
}

// String returns the path as text, with its parameters in braces. For an invalid path it
// returns the valid part.
//
// Java: toString.
func (p ZPath) String() string {
	if p.text == "" {
		return "/"
	}
	var text strings.Builder
	for name := range strings.SplitSeq(p.text[1:], "/") {
		if parameter, found := strings.CutPrefix(name, parameterMark); found {
			name = "{" + parameter + "}"
		}
		text.WriteString("/" + name)
	}
	return text.String()
}

// fixed returns the path above the first parameter, or p if there is none.
func (p ZPath) fixed() ZPath {
	p.text, _, _ = strings.Cut(p.text, "/"+parameterMark)
	return p
}
