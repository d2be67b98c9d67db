package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// values has for each variable the expressions of its values: the right side of each assignment, a
// call with several results, or the expression that a loop ranges over.
type values map[*types.Var][]ast.Expr

// assignments returns the values of the package's variables.
func assignments(pass *analysis.Pass) values {
	set := values{}
	nodes := []ast.Node{(*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil)}
	for c := range inspectorOf(pass).Root().Preorder(nodes...) {
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			set.add(pass.TypesInfo, n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			set.add(pass.TypesInfo, names, n.Values)
		case *ast.RangeStmt:
			set.add(pass.TypesInfo, []ast.Expr{n.Key, n.Value}, []ast.Expr{n.X})
		}
	}
	return set
}

// add adds an assignment. A single expression for several variables is a value of all of them.
func (set values) add(info *types.Info, left, right []ast.Expr) {
	for i, e := range left {
		if e == nil || len(right) == 0 {
			continue
		}
		v := variable(info, e)
		if v == nil {
			continue
		}
		if len(right) == len(left) {
			set[v] = append(set[v], right[i])
		} else {
			set[v] = append(set[v], right[0])
		}
	}
}
