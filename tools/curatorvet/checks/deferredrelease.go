package checks

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

const deferredReleaseDoc = `find defer lease.Release in a loop

A deferred call in a loop runs when the function returns, not at the end of an iteration. Until then
all leases are held, and a loop that acquires the same lock in each iteration waits for itself.`

func deferredRelease(pass *analysis.Pass) (any, error) {
	for c := range inspectorOf(pass).Root().Preorder((*ast.DeferStmt)(nil)) {
		statement := c.Node().(*ast.DeferStmt)
		if inTest(pass, statement) || !releases(pass, statement.Call) || !repeated(c) {
			continue
		}
		pass.Reportf(statement.Pos(), "the release is deferred in a loop, so that the leases of all iterations are held until the function returns: "+
			"use locks.Do, or make the body of the loop a function; for several locks at once use an InterProcessMultiLock or AcquireN")
	}
	return nil, nil
}

// releases reports whether a deferred call is Release, or a function literal that calls it.
func releases(pass *analysis.Pass, call *ast.CallExpr) (found bool) {
	ast.Inspect(call, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && api(called(pass.TypesInfo, c)) == "recipes/locks.Lease.Release" {
			found = true
		}
		return !found
	})
	return found
}

// repeated reports whether a statement is in the body of a loop and may be executed more than once.
func repeated(c inspector.Cursor) bool {
	for outer := range c.Parent().Enclosing() {
		switch n := outer.Node().(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.BlockStmt:
			if leaves(n.List) {
				return false // leaves the function or the loop, so there is no other iteration
			}
		case *ast.CaseClause:
			if leavesFunction(n.Body) {
				return false
			}
		case *ast.CommClause:
			if leavesFunction(n.Body) {
				return false
			}
		}
	}
	return false
}

// leaves reports whether statements end with return, or with a break out of the loop around them.
func leaves(list []ast.Stmt) bool {
	if leavesFunction(list) {
		return true
	}
	if len(list) == 0 {
		return false
	}
	branch, ok := list[len(list)-1].(*ast.BranchStmt)
	return ok && branch.Tok.String() == "break"
}

func leavesFunction(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	_, ok := list[len(list)-1].(*ast.ReturnStmt)
	return ok
}
