package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// runUnderLease has the functions that call their last argument under a lease, with their names in
// messages.
var runUnderLease = map[string]string{
	"recipes/locks.Do":                  "locks.Do",
	"recipes/locks.TryDo":               "locks.TryDo",
	"recipes/leader.LeaderSelector.Run": "LeaderSelector.Run",
}

// work is a function that is called under a lease.
type work struct {
	caller     string   // the caller's name in messages
	fn         ast.Node // *ast.FuncLit or *ast.FuncDecl
	typ        *ast.FuncType
	body       *ast.BlockStmt
	ctx, lease *types.Var // nil if the parameter has no name
}

// worksOf returns the functions of the package that are called under leases, without duplicates.
func worksOf(pass *analysis.Pass) []work {
	var works []work
	seen := map[ast.Node]bool{}
	for c := range inspectorOf(pass).Root().Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		caller := runUnderLease[api(called(pass.TypesInfo, call))]
		if caller == "" || len(call.Args) == 0 {
			continue
		}
		w := work{caller: caller}
		switch fn := ast.Unparen(call.Args[len(call.Args)-1]).(type) {
		case *ast.FuncLit:
			w.fn, w.typ, w.body = fn, fn.Type, fn.Body
		case *ast.Ident, *ast.SelectorExpr:
			if decl := declaration(pass, fn); decl != nil {
				w.fn, w.typ, w.body = decl, decl.Type, decl.Body
			}
		}
		if w.body == nil || seen[w.fn] {
			continue
		}
		seen[w.fn] = true
		w.ctx, w.lease = parameters(pass.TypesInfo, w.typ)
		works = append(works, w)
	}
	return works
}

// declaration returns the declaration of the function or method in an expression, nil if it is not in
// this package.
func declaration(pass *analysis.Pass, e ast.Expr) *ast.FuncDecl {
	if selector, ok := e.(*ast.SelectorExpr); ok {
		e = selector.Sel
	}
	fn, ok := pass.TypesInfo.Uses[e.(*ast.Ident)].(*types.Func)
	if !ok {
		return nil
	}
	for c := range inspectorOf(pass).Root().Preorder((*ast.FuncDecl)(nil)) {
		if decl := c.Node().(*ast.FuncDecl); pass.TypesInfo.Defs[decl.Name] == fn.Origin() {
			return decl
		}
	}
	return nil
}

// parameters returns the two parameters of a work, each nil if it has no name.
func parameters(info *types.Info, typ *ast.FuncType) (ctx, lease *types.Var) {
	for _, field := range typ.Params.List {
		for _, name := range field.Names {
			v, ok := info.Defs[name].(*types.Var)
			switch {
			case !ok || name.Name == "_":
			case isContext(v.Type()):
				ctx = v
			case isLease(v.Type()):
				lease = v
			}
		}
	}
	return ctx, lease
}
