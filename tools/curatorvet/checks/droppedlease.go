package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

const droppedLeaseDoc = `find leases that are dropped where they are acquired

A lease that is not kept cannot be released, and the lock stays held until the client is closed.
The check finds "_, err := mutex.Acquire(ctx)", and calls whose results are not used.`

// acquire has the methods that return a lease that the caller must release. They are found by name,
// because programs may have their own types of locks.
var acquire = map[string]bool{"Acquire": true, "TryAcquire": true, "AcquireN": true, "Downgrade": true}

func droppedLease(pass *analysis.Pass) (any, error) {
	nodes := []ast.Node{
		(*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil),
		(*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil),
	}
	for c := range inspectorOf(pass).Root().Preorder(nodes...) {
		if call := dropped(c.Node()); call != nil && returnsLease(pass.TypesInfo, call) && !inTest(pass, call) {
			pass.Reportf(call.Pos(), "the lease that %s returns is dropped, and the lock stays held until the client is closed: "+
				"keep the lease and release it, or use locks.Do; locks.Inspect shows who holds a lock", types.ExprString(call.Fun))
		}
	}
	return nil, nil
}

// dropped returns the call in a statement that does not keep the call's first result, or nil.
func dropped(n ast.Node) *ast.CallExpr {
	var e ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		if len(n.Rhs) == 1 && isBlank(n.Lhs[0]) {
			e = n.Rhs[0]
		}
	case *ast.ValueSpec:
		if len(n.Values) == 1 && isBlank(n.Names[0]) {
			e = n.Values[0]
		}
	case *ast.ExprStmt:
		e = n.X
	case *ast.GoStmt:
		e = n.Call
	case *ast.DeferStmt:
		e = n.Call
	}
	call, _ := ast.Unparen(e).(*ast.CallExpr)
	return call
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// returnsLease reports whether a call acquires a lock and returns the lease.
func returnsLease(info *types.Info, call *ast.CallExpr) bool {
	fn := called(info, call)
	if fn == nil || !acquire[fn.Name()] {
		return false
	}
	results := fn.Signature().Results()
	return results.Len() > 0 && isLease(results.At(0).Type())
}
