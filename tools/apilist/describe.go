package main

import (
	"fmt"
	"go/types"
	"strings"
)

// describe returns a line for each exported name of a package.
func describe(p *types.Package) (lines []string) {
	d := describer{p}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			lines = append(lines, d.line("const %s %s = %s", name, d.text(o.Type()), o.Val().ExactString()))
		case *types.Var:
			lines = append(lines, d.line("var %s %s", name, d.text(o.Type())))
		case *types.Func:
			lines = append(lines, d.line("func %s%s", name, d.signature(o.Signature())))
		case *types.TypeName:
			lines = append(lines, d.typeLines(o)...)
		}
	}
	return lines
}

// describer describes the names of one package.
type describer struct{ p *types.Package }

func (d describer) line(format string, args ...any) string {
	path := d.p.Path()
	if _, inside, ok := strings.Cut(path, "/curator/"); ok {
		path = inside
	}
	return path + ": " + fmt.Sprintf(format, args...)
}

// text returns a type as text. Its packages have their names, not their paths.
func (d describer) text(t types.Type) string { return types.TypeString(t, d.qualify) }

func (d describer) qualify(other *types.Package) string {
	if other == d.p {
		return ""
	}
	return other.Name()
}

// signature returns the parameters and results of a function as text, without their names.
func (d describer) signature(s *types.Signature) string {
	return d.typeParameters(s.TypeParams()) + strings.TrimPrefix(d.text(withoutNames(s)), "func")
}

// withoutNames returns a function type without the names of its parameters and results. Parameters
// and results that are functions have no names either.
func withoutNames(s *types.Signature) *types.Signature {
	unnamed := func(t *types.Tuple) *types.Tuple {
		var all []*types.Var
		for v := range t.Variables() {
			typ := v.Type()
			if fn, ok := typ.(*types.Signature); ok {
				typ = withoutNames(fn)
			}
			all = append(all, types.NewParam(v.Pos(), v.Pkg(), "", typ))
		}
		return types.NewTuple(all...)
	}
	return types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
}

func (d describer) typeParameters(list *types.TypeParamList) string {
	var all []string
	for p := range list.TypeParams() {
		all = append(all, p.Obj().Name()+" "+d.text(p.Constraint()))
	}
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// typeLines returns the lines of a type: its kind, its exported fields, and its methods, including
// promoted methods.
func (d describer) typeLines(o *types.TypeName) (lines []string) {
	name := o.Name()
	if o.IsAlias() {
		return []string{d.line("type %s = %s", name, d.text(types.Unalias(o.Type())))}
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		return []string{d.line("type %s %s", name, d.text(o.Type()))}
	}
	name += d.typeParameters(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		lines = append(lines, d.line("type %s struct", name))
		for field := range under.Fields() {
			if field.Exported() {
				lines = append(lines, d.line("type %s struct, %s %s", o.Name(), field.Name(), d.text(field.Type())))
			}
		}
	case *types.Interface:
		return append(lines, d.interfaceLines(name, o.Name(), under)...)
	default:
		lines = append(lines, d.line("type %s %s", name, d.text(under)))
	}
	byValue := types.NewMethodSet(named)
	for selection := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		method := selection.Obj().(*types.Func)
		if !method.Exported() {
			continue
		}
		receiver := "*" + o.Name()
		if byValue.Lookup(method.Pkg(), method.Name()) != nil {
			receiver = o.Name()
		}
		lines = append(lines, d.line("method (%s) %s%s", receiver, method.Name(), d.signature(method.Signature())))
	}
	return lines
}

// interfaceLines returns the lines of an interface. An interface with unexported methods is marked as
// closed: only its own package can implement it, so later versions may add methods.
func (d describer) interfaceLines(full, name string, t *types.Interface) (lines []string) {
	closed := ""
	for method := range t.Methods() {
		if !method.Exported() {
			closed = " closed"
			continue
		}
		lines = append(lines, d.line("type %s interface, %s%s", name, method.Name(), d.signature(method.Signature())))
	}
	if !t.IsMethodSet() {
		return append(lines, d.line("type %s %s", full, d.text(t)))
	}
	return append(lines, d.line("type %s interface%s", full, closed))
}
