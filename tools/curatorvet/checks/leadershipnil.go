package checks

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

const leadershipNilDoc = `find Leadership() that is compared with nil, where Err is not called

Leadership returns the lease of the present term. It may also return a lease that has ended, so a
lease that is not nil does not mean that this process leads. Leadership().Err() == nil does. Err can
be called on a nil lease.`

// looksAtBelief has the methods of a lease that show whether it has ended.
var looksAtBelief = map[string]bool{
	"recipes/locks.Lease.Err":     true,
	"recipes/locks.Lease.Context": true,
	"recipes/locks.Lease.Bind":    true,
	"recipes/locks.Lease.Verify":  true,
	"recipes/locks.Lease.Guard":   true,
}

func leadershipNil(pass *analysis.Pass) (any, error) {
	set := assignments(pass)
	for c := range inspectorOf(pass).Root().Preorder((*ast.BinaryExpr)(nil)) {
		compared := comparedWithNil(pass.TypesInfo, c.Node().(*ast.BinaryExpr))
		if compared == nil || inTest(pass, compared) {
			continue
		}
		source := leadershipCall(pass.TypesInfo, set, compared)
		if source == nil {
			continue
		}
		if v := variable(pass.TypesInfo, compared); v != nil && believed(pass, c, v) {
			continue
		}
		pass.Reportf(compared.Pos(), "a lease that is not nil may have ended: compare %s.Err() with nil, which works for a nil lease, too",
			types.ExprString(compared))
	}
	return nil, nil
}

// comparedWithNil returns the other side of a comparison with nil. It returns nil for other
// expressions.
func comparedWithNil(info *types.Info, e *ast.BinaryExpr) ast.Expr {
	switch {
	case e.Op != token.EQL && e.Op != token.NEQ:
		return nil
	case info.Types[e.X].IsNil():
		return e.Y
	case info.Types[e.Y].IsNil():
		return e.X
	}
	return nil
}

// leadershipCall returns the call of Leadership that is the expression, or whose result is the value
// of the variable in the expression.
func leadershipCall(info *types.Info, set values, e ast.Expr) *ast.CallExpr {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		switch api(called(info, call)) {
		case "recipes/leader.LeaderLatch.Leadership", "recipes/leader.LeaderSelector.Leadership":
			return call
		}
		return nil
	}
	if v := variable(info, e); v != nil && len(set[v]) == 1 {
		if _, again := ast.Unparen(set[v][0]).(*ast.Ident); !again {
			return leadershipCall(info, set, set[v][0])
		}
	}
	return nil
}

// believed reports whether the function around a comparison also checks whether the lease has ended.
func believed(pass *analysis.Pass, c inspector.Cursor, lease *types.Var) bool {
	for fn := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		for inner := range fn.Preorder((*ast.CallExpr)(nil)) {
			call := inner.Node().(*ast.CallExpr)
			selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if ok && looksAtBelief[api(called(pass.TypesInfo, call))] && variable(pass.TypesInfo, selector.X) == lease {
				return true
			}
		}
	}
	return false
}
