package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// module is the module path of the library.
const module = "github.com/go-curator/curator"

// inspectorOf returns the syntax trees of the package.
func inspectorOf(pass *analysis.Pass) *inspector.Inspector {
	return pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
}

// inTest reports whether a node is in a test file.
func inTest(pass *analysis.Pass, n ast.Node) bool {
	return strings.HasSuffix(pass.Fset.Position(n.Pos()).Filename, "_test.go")
}

// called returns the function or method that is called; for a generic function it is the declared
// one, without type arguments. It returns nil for conversions, built-in functions and function values.
func called(info *types.Info, call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(info, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// api returns the name of a function of the library in the form of this package's tables, such as
// "recipes/locks.Do" or "recipes/locks.Lease.Release". It returns "" for other functions.
func api(fn *types.Func) string {
	if fn == nil || fn.Pkg() == nil {
		return ""
	}
	path, ours := strings.CutPrefix(fn.Pkg().Path(), module+"/")
	if !ours {
		return ""
	}
	if receiver := fn.Signature().Recv(); receiver != nil {
		_, name := named(receiver.Type())
		return path + "." + name + "." + fn.Name()
	}
	return path + "." + fn.Name()
}

// std returns the name of a function or method of the standard library, in the same form as api.
func std(fn *types.Func) string {
	if fn == nil || fn.Pkg() == nil {
		return ""
	}
	if receiver := fn.Signature().Recv(); receiver != nil {
		_, name := named(receiver.Type())
		return fn.Pkg().Path() + "." + name + "." + fn.Name()
	}
	return fn.Pkg().Path() + "." + fn.Name()
}

// named returns the import path and the name of a type. For a pointer it is the type that it points
// to.
func named(t types.Type) (path, name string) {
	t = types.Unalias(t)
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil {
		return n.Obj().Pkg().Path(), n.Obj().Name()
	}
	return "", ""
}

func isNamed(t types.Type, path, name string) bool {
	if t == nil {
		return false
	}
	p, n := named(t)
	return p == path && n == name
}

// isStandard reports whether a function is of the standard library or of the language: the first part
// of its import path has no dot. Other import paths without a dot are only those of modules that
// other modules cannot import.
func isStandard(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return true
	}
	domain, _, _ := strings.Cut(fn.Pkg().Path(), "/")
	return !strings.Contains(domain, ".")
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

func isLease(t types.Type) bool { return isNamed(t, module+"/recipes/locks", "Lease") }

// variable returns the variable that an expression is, or nil.
func variable(info *types.Info, e ast.Expr) *types.Var {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		v, _ := info.ObjectOf(id).(*types.Var)
		return v
	}
	return nil
}

// root returns the variable at the beginning of a chain of selectors and calls, such as x of
// x.f.g().h.
func root(info *types.Info, e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return variable(info, e)
		}
	}
}

// within reports whether an object is declared, or a node begins, inside a node.
func within(o interface{ Pos() token.Pos }, n ast.Node) bool {
	return n.Pos() <= o.Pos() && o.Pos() < n.End()
}
