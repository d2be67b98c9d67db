// Buildergen writes the fluent builders of package framework from package spec.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/go-curator/curator/tools/buildergen/spec"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: buildergen FRAMEWORK")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "buildergen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	for _, op := range spec.Ops {
		src, err := Generate(op)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, Output(op)), src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Output is the name of the generated file.
func Output(op spec.Op) string { return strings.ToLower(op.Name) + "_gen.go" }

// Generate returns the formatted source for one operation.
func Generate(op spec.Op) ([]byte, error) {
	if err := check(op); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Name, err)
	}
	var buf bytes.Buffer
	if err := tmpl.Execute(&buf, op); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Name, err)
	}
	src, err := format.Source(buf.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Name, err)
	}
	return src, nil
}

// check returns an error for an operation without documentation, or with duplicate names.
func check(op spec.Op) error {
	if op.Name == "" || op.Java == "" || op.Doc == "" || op.Returns == "" {
		return errors.New("name, Java name and documentation are required")
	}
	for _, a := range op.Args {
		if a.Name == "" || a.Type == "" || a.Doc == "" {
			return fmt.Errorf("argument %q: name, type and documentation are required", a.Name)
		}
	}
	names, fields := map[string]bool{}, map[string]bool{}
	for _, m := range op.Mods {
		if m.Name == "" || m.Field == "" || m.Doc == "" {
			return fmt.Errorf("step %q: name, field and documentation are required", m.Name)
		}
		if names[m.Name] || fields[m.Field] {
			return fmt.Errorf("step %q: its name or field is used twice", m.Name)
		}
		names[m.Name], fields[m.Field] = true, true
	}
	return nil
}

var tmpl = template.Must(template.New("op").Funcs(template.FuncMap{
	"lower":   lower,
	"slice":   func(t string) string { return strings.Replace(t, "...", "[]", 1) },
	"clone":   clone,
	"param":   param,
	"given":   func(m spec.Mod) bool { return m.Type != "" && m.Type[0] != '*' },
	"or":      or,
	"builder": builder,
	"wrap":    wrap,
	"params":  params,
	"names":   names,
	"types":   types,
	"uses":    uses,
	"isSlice": isSlice,
	"usesSlices": func(op spec.Op) bool {
		return uses(op, "...") || uses(op, "[]byte") || slices.ContainsFunc(op.Args, func(a spec.Arg) bool { return isSlice(a.Type) })
	},
	"hasStat": func(op spec.Op) bool {
		return slices.ContainsFunc(op.Mods, func(m spec.Mod) bool { return m.Field == "stat" })
	},
	"usesTime": func(op spec.Op) bool { return uses(op, "time.") },
}).Parse(text))

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// builder returns the name of the operation's builder type.
func builder(op spec.Op) string { return op.Name + strings.TrimSuffix(op.Entry, "es") + "Builder" }

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// isSlice tells whether arguments of a type share memory with the caller's.
func isSlice(t string) bool { return strings.HasPrefix(t, "[]") || strings.HasPrefix(t, "...") }

func param(m spec.Mod) string { return or(m.Param, m.Field) }

func clone(m spec.Mod) string {
	if strings.HasPrefix(m.Type, "...") {
		return "slices.Clone(" + param(m) + ")"
	}
	return param(m)
}

func uses(op spec.Op, prefix string) bool {
	for _, m := range op.Mods {
		if strings.HasPrefix(m.Type, prefix) {
			return true
		}
	}
	return false
}

// params returns the parameters of the terminal after ctx. With fixed a variadic parameter becomes a
// slice, because other parameters follow it.
func params(op spec.Op, fixed bool) string {
	var b strings.Builder
	if !op.NoPath {
		b.WriteString(", path string")
	}
	for _, a := range op.Args {
		t := a.Type
		if fixed {
			t = strings.Replace(t, "...", "[]", 1)
		}
		fmt.Fprintf(&b, ", %s %s", a.Name, t)
	}
	return b.String()
}

// names returns the names of the parameters.
func names(op spec.Op) string {
	var b strings.Builder
	if !op.NoPath {
		b.WriteString(", path")
	}
	for _, a := range op.Args {
		b.WriteString(", " + a.Name)
	}
	return b.String()
}

func types(args []spec.Arg) string {
	var parts []string
	for _, a := range args {
		parts = append(parts, a.Name+" "+a.Type)
	}
	return strings.Join(parts, ", ")
}

// wrap returns s as a comment of several lines.
func wrap(s string) string {
	var b strings.Builder
	line := "//"
	for word := range strings.FieldsSeq(s) {
		if len(line)+1+len(word) > 90 {
			b.WriteString(line + "\n")
			line = "//"
		}
		line += " " + word
	}
	return b.String() + line
}
