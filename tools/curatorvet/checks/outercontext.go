package checks

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

const outerContextDoc = `find contexts from outside in the function of locks.Do

The context that locks.Do, locks.TryDo and LeaderSelector.Run pass to their function ends with the
lease, and an Acquire with it re-enters the lock. A context from outside of the function does not
end when the lock is lost, and an Acquire of the same lock with it waits for its own caller.`

// takesAnyContext has the calls to which a context from outside may be passed.
var takesAnyContext = map[string]bool{
	"recipes/locks.Lease.Bind":    true,
	"recipes/locks.Lease.Release": true,
	"context.Cause":               true,
	"context.WithoutCancel":       true,
}

func outerContext(pass *analysis.Pass) (any, error) {
	works := worksOf(pass)
	fns := map[ast.Node]bool{}
	for _, w := range works {
		fns[w.fn] = true
	}
	set := assignments(pass)
	for _, w := range works {
		literal, ok := w.fn.(*ast.FuncLit)
		if !ok || inTest(pass, literal) {
			continue // a declared function has only its own context
		}
		ast.Inspect(literal.Body, func(n ast.Node) bool {
			if fns[n] {
				return false // this work is checked by itself
			}
			if call, ok := n.(*ast.CallExpr); ok {
				reportOuterContexts(pass, w, set, call)
			}
			return true
		})
	}
	return nil, nil
}

// reportOuterContexts reports the arguments of a call that are contexts from outside.
func reportOuterContexts(pass *analysis.Pass, w work, set values, call *ast.CallExpr) {
	fn := called(pass.TypesInfo, call)
	if takesAnyContext[api(fn)] || takesAnyContext[std(fn)] {
		return
	}
	for _, arg := range call.Args {
		if !isContext(pass.TypesInfo.TypeOf(arg)) || !isOuter(pass.TypesInfo, set, arg, w.fn) {
			continue
		}
		instead := "give the function's own context a name and pass it"
		if w.ctx != nil {
			instead = fmt.Sprintf("pass %s, the function's own context", w.ctx.Name())
		}
		pass.Reportf(arg.Pos(), "%s is from outside of the function of %s: it does not end with the lease, and does not re-enter; %s",
			types.ExprString(arg), w.caller, instead)
	}
}

// isOuter reports whether a context is a variable or a field from outside of a function, or the result
// of the method Context of such a variable, for example of an http.Request.
func isOuter(info *types.Info, set values, e ast.Expr, fn ast.Node) bool {
	var from *types.Var
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		from = root(info, x)
	case *ast.CallExpr:
		selector, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Context" || len(x.Args) > 0 {
			return false
		}
		if t := info.TypeOf(selector.X); isLease(t) || isOfTesting(t) {
			return false
		}
		from = root(info, selector.X)
	}
	if from == nil || within(from, fn) {
		return false
	}
	for _, value := range set[from] {
		detached, _ := value.(*ast.CallExpr)
		if within(value, fn) || detached != nil && std(called(info, detached)) == "context.WithoutCancel" {
			return false // set by the function itself, or meant to outlive the lease
		}
	}
	return true
}

// isOfTesting reports whether a type is one of package testing. The context of a test lasts as long as
// the test, which may check what happens after the loss of a lock.
func isOfTesting(t types.Type) bool {
	path, _ := named(t)
	return path == "testing"
}
